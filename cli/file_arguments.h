/* file_arguments.h - checks the files that the arguments name, before any of them is opened. */
#ifndef TRELLIS_CLI_FILE_ARGUMENTS_H
#define TRELLIS_CLI_FILE_ARGUMENTS_H

#include "arguments.h"

/* Prints an error and returns EXIT_USAGE if an output is one of the inputs or another output, by
 * whatever name (the same device and inode), or if '-' stands where there has to be a file. */
int check_files_named(const struct arguments *arguments);

#endif
