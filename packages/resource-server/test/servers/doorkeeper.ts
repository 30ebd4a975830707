import { spawnSync } from 'node:child_process'
import { startProgram, type ForeignServer } from './foreign-server.ts'

/** Debian's Ruby, where `ruby-doorkeeper` and what it needs install to. */
const ruby = '/usr/bin/ruby'
const libraries = ['action_controller/railtie', 'active_record', 'sqlite3', 'doorkeeper', 'webrick', 'jwt']

export const hasDoorkeeper =
  spawnSync(ruby, ['-rlogger', ...libraries.map((name) => `-r${name}`), '-e', '1']).status === 0

/** Endpoints of Doorkeeper: `/oauth/token`, `/oauth/introspect` and `/keys`. */
export function startDoorkeeper(tokens: 'opaque' | 'jwt'): Promise<ForeignServer> {
  return startProgram(ruby, ['doorkeeper.rb', tokens])
}
