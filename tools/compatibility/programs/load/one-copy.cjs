// Requires core and imports packages that use it, and the other way round: the process has one copy.
const assert = require('node:assert/strict')
const core = require('@tokenwell/core')
const axios = require('axios')
const { credentials, expected, usePackages } = require('./use-packages.js')

const names = {
  '@tokenwell/axios-interceptor': ['attachTokens'],
  '@tokenwell/core': ['createTokenProvider', 'TokenError'],
  '@tokenwell/core/adapter': ['createTokenAttacher', 'tokenSharing'],
  '@tokenwell/core/protocol': ['parseTokenResponse'],
  '@tokenwell/core/testing': ['createTestTokenProvider'],
  '@tokenwell/token-stores/file': ['createFileTokenStore'],
  '@tokenwell/ky-hook': ['tokenHooks'],
  '@tokenwell/nestjs-module': ['TokenModule', 'InjectTokens'],
  '@tokenwell/nestjs-module/axios': ['TokenHttpModule'],
  '@tokenwell/opentelemetry': ['instrumentTokens'],
  '@tokenwell/token-stores/postgresql': ['createPostgresqlTokenStore'],
  '@tokenwell/token-stores/redis': ['createRedisTokenStore'],
  '@tokenwell/resource-server': ['createTokenVerifier'],
  '@tokenwell/resource-server/express': [],
  '@tokenwell/resource-server/fetch': [],
  ...(process.versions.node.startsWith('20.') ? {} : { '@tokenwell/token-service': ['createTokenService'] }),
}

async function main() {
  for (const [name, exported] of Object.entries(names)) {
    const required = require(name)
    const imported = await import(name)
    for (const one of exported) {
      assert.notEqual(required[one], undefined, `${name} has no ${one}`)
      assert.equal(required[one], imported[one], `${name} ${one} differs between require and import`)
    }
  }
  const axiosInterceptor = await import('@tokenwell/axios-interceptor')
  assert.deepEqual(await usePackages({ core, axiosInterceptor, axios }), expected)

  // A provider that was required, in a hook of ky, which is an ES module only.
  const { API_URL } = process.env
  const tokens = core.clientCredentials(credentials)
  const { default: ky } = await import('ky')
  const hooks = (await import('@tokenwell/ky-hook')).tokenHooks(tokens, { allowedOrigins: [API_URL] })
  assert.equal((await ky.extend(hooks).get(`${API_URL}/v1/orders`).json()).length, 2)
  await tokens.close()
}

main().catch((error) => {
  console.error(error)
  process.exit(1)
})
