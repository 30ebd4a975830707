const axios = require('axios')
const core = require('@tokenwell/core')
const axiosInterceptor = require('@tokenwell/axios-interceptor')
const { expected, usePackages } = require('../use-packages.js')

test('requires the packages', async () => {
  expect(await usePackages({ core, axiosInterceptor, axios })).toEqual(expected)
})

test.each([
  ['@tokenwell/nestjs-module', 'TokenModule'],
  ['@tokenwell/nestjs-module/axios', 'TokenHttpModule'],
  ['@tokenwell/opentelemetry', 'instrumentTokens'],
  ['@tokenwell/token-stores/redis', 'createRedisTokenStore'],
  ['@tokenwell/ky-hook', 'tokenHooks'],
])('requires %s', (name, exported) => {
  expect(require(name)[exported]).toBeInstanceOf(Function)
})
