// Creates a temporary file, and is killed by tests before it can remove the file.
import process from 'node:process'
import { createTemporaryFile } from '../../src/temporary-files/temporary-file.ts'

await createTemporaryFile((file) => file.write('half a recording'))
process.kill(process.pid, 'SIGKILL')
