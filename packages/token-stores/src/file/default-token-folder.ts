import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'

/** The default folder: `tokenwell/tokens` in the user's state directory (XDG Base Directory Specification). */
export function defaultTokenFolder(env: Readonly<Record<string, string | undefined>> = process.env): string {
  const { XDG_STATE_HOME: state = '', HOME: home = homedir() } = env
  // The specification requires relative paths to be ignored.
  return join(isAbsolute(state) ? state : join(home, '.local/state'), 'tokenwell/tokens')
}
