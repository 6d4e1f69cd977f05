"""Tags sentences in Spark: one JSON object a line with "tokens" in, the same with "labels" out.

    spark-submit examples/spark/tag.py MODEL INPUT OUTPUT
"""

import sys

from pyspark.sql import SparkSession

from trellis import spark


def main(model: str, source: str, target: str) -> None:
    session = SparkSession.builder.appName("trellis").getOrCreate()
    frame = session.read.schema("tokens array<string>").json(source)
    spark.tag(frame, model).write.mode("error").json(target)
    session.stop()


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
