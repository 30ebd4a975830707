import { runToEnd, type Ended } from '../../tools/run-process.ts'

/** Runs Node to its end, with readable output. */
export function runNode(
  args: readonly string[],
  folder: string,
  environment: Readonly<Record<string, string>>,
): Promise<Ended> {
  const { NODE_OPTIONS: _, ...inherited } = process.env
  return runToEnd(process.execPath, args, {
    folder,
    environment: { ...inherited, NO_COLOR: '1', ...environment },
    timeoutMs: 60_000,
  })
}
