// The official conformance suite's scenarios of client credentials and of workload identity federation, with the official SDK's
// transport. The client knows the URL of the MCP server, and nothing of its authorization server.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const suite = fileURLToPath(
  new URL('node_modules/@modelcontextprotocol/conformance/dist/index.js', import.meta.url),
)
const client = fileURLToPath(new URL('client.js', import.meta.url))
// The suite writes its results into the current folder.
const cwd = await mkdtemp(join(tmpdir(), 'conformance-'))

const wif = 'auth/wif-jwt-bearer'
/** `passes`: a check that must pass; `fails`: the only one that fails; `error`: the client's. */
const scenarios = [
  { name: 'auth/client-credentials-basic', passes: 'client-credentials-basic-auth' },
  { name: 'auth/client-credentials-jwt', passes: 'client-credentials-jwt-verified' },
  { name: 'auth/pre-registration', passes: 'pre-registration-auth' },
  { name: 'auth/resource-mismatch', passes: 'resource-mismatch-rejected', error: 'configuration' },
  {
    name: 'auth/metadata-issuer-mismatch',
    passes: 'sep-2468-client-validate-metadata-issuer',
    error: 'configuration',
  },
  { name: wif, kind: 'valid_jwt', passes: 'valid-bearer-token' },
  {
    name: wif,
    kind: 'wrong_audience_jwt',
    fails: 'wif-assertion-audience',
    error: 'credentials invalid_grant',
  },
  { name: wif, kind: 'expired_jwt', fails: 'wif-assertion-expired', error: 'credentials invalid_grant' },
  {
    name: wif,
    kind: 'valid_jwt,wif.trigger-unauthorized',
    passes: 'wif-assertion-verified',
    error: 'credentials unauthorized_client',
  },
  {
    name: wif,
    kind: 'valid_jwt,wif.rejected',
    passes: 'wif-assertion-verified',
    error: 'configuration invalid_scope',
  },
]

function run(version, { name, kind = 'client' }) {
  const command = `${process.execPath} ${client} ${version} ${kind}`
  const args = [suite, 'client', '--command', command, '--scenario', name, '--verbose']
  return new Promise((resolve) => {
    execFile(process.execPath, args, { cwd, maxBuffer: 2 ** 26 }, (_, stdout, stderr) =>
      resolve({ checks: JSON.parse(/^\[$.*?^\]$/ms.exec(stdout)?.[0] ?? '[]'), output: stdout + stderr }),
    )
  })
}

for (const version of ['v1', 'v2']) {
  for (const scenario of scenarios) {
    const { checks, output } = await run(version, scenario)
    const idsOf = (...statuses) =>
      checks.filter(({ status }) => statuses.includes(status)).map(({ id }) => id)
    const { name, kind = '', passes, fails, error } = scenario
    const title = `${[name, kind].filter(Boolean).join(' ')}, SDK ${version}`
    // A warning is a second request for a token, or one with another grant.
    assert.deepEqual(idsOf('FAILURE', 'WARNING'), fails ? [fails] : [], `${title}:\n${output}`)
    if (passes) assert(idsOf('SUCCESS').includes(passes), `${title}:\n${output}`)
    assert.equal(/^The client failed: (.*)$/m.exec(output)?.[1].trim(), error, `${title}:\n${output}`)
    console.log(`${title}: as it must be`)
  }
}
