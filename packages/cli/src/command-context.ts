/** The parts of the process that a command uses. */
export type CommandContext = Pick<NodeJS.Process, 'stdin' | 'stdout' | 'stderr' | 'env'>
