const assert = require('node:assert/strict')
const { expected, usePackages } = require('./use-packages.js')

describe('Mocha', () => {
  it('requires the packages', async () => {
    const packages = {
      core: require('@tokenwell/core'),
      axiosInterceptor: require('@tokenwell/axios-interceptor'),
      axios: require('axios'),
    }
    assert.deepEqual(await usePackages(packages), expected)
  })
})
