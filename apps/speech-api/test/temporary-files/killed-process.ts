// What tests have killed in the middle of its work: it makes a temporary file and never gets to remove it.
import process from 'node:process'
import { createTemporaryFile } from '../../src/temporary-files/temporary-file.ts'

await createTemporaryFile((file) => file.write('half a recording'))
process.kill(process.pid, 'SIGKILL')
