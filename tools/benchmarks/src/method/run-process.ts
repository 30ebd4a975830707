import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

/** Runs a program of `src` in a separate process with one argument, and reads the JSON it writes. */
export async function runProcess<Result>(
  program: string,
  argument: object,
  flags: string[] = [],
): Promise<Result> {
  const path = fileURLToPath(new URL(`../${program}`, import.meta.url))
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, path, JSON.stringify(argument)])
  return JSON.parse(stdout) as Result
}

/** In the program: returns its argument. */
export function givenArgument(): unknown {
  return JSON.parse(process.argv[2] ?? '{}')
}

/** In the program: writes its result and exits, even with open sockets. */
export function report(result: object): void {
  process.stdout.write(JSON.stringify(result), () => process.exit())
}
