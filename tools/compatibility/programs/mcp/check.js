// The official conformance suite's scenarios of client credentials, with the official SDK's transport.
import { execFile } from 'node:child_process'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const suite = fileURLToPath(
  new URL('node_modules/@modelcontextprotocol/conformance/dist/index.js', import.meta.url),
)
const client = fileURLToPath(new URL('client.js', import.meta.url))
// The suite writes its results into the current folder.
const cwd = await mkdtemp(join(tmpdir(), 'conformance-'))

for (const version of ['v1', 'v2']) {
  for (const scenario of ['auth/client-credentials-basic', 'auth/client-credentials-jwt']) {
    const command = `${process.execPath} ${client} ${version}`
    const args = [suite, 'client', '--command', command, '--scenario', scenario]
    const { stdout, stderr } = await promisify(execFile)(process.execPath, args, { cwd })
    const [, passed, all] = /Passed: (\d+)\/(\d+)/.exec(stdout + stderr) ?? []
    if (!passed || passed !== all) throw new Error(`${scenario}, SDK ${version}:\n${stdout}\n${stderr}`)
    console.log(`${scenario}, SDK ${version}: ${passed} of ${all}`)
  }
}
