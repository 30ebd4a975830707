import { spawnSync } from 'node:child_process'
import { startProgram, type ForeignServer } from './foreign-server.ts'

/** Debian's Python, where `python3-authlib` and `python3-flask` install to. */
const python = '/usr/bin/python3'

export const hasAuthlib = spawnSync(python, ['-c', 'import authlib, flask']).status === 0

/** Endpoints of Authlib: `/introspect`, `/token` and `/keys`. */
export function startAuthlib(): Promise<ForeignServer> {
  return startProgram(python, ['authlib_server.py'], { AUTHLIB_INSECURE_TRANSPORT: '1' })
}
