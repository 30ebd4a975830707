import * as axiosInterceptor from '@tokenwell/axios-interceptor'
import * as core from '@tokenwell/core'
import { tokenHooks } from '@tokenwell/ky-hook'
import axios from 'axios'
import ky from 'ky'
import { expected, usePackages } from '../use-packages.js'

test('imports the packages', async () => {
  const platform = `${process.env.PLATFORM}-esm`
  expect(await usePackages({ core, axiosInterceptor, axios }, platform)).toEqual(expected)
})

test('imports the hook of ky, and ky', async () => {
  const authUrl = `${process.env.PLATFORM}-esm-ky`
  const tokens = core.createTokenProvider(
    core.clientCredentials({ authUrl, clientId: 'c', clientSecret: 'secret' }),
  )
  const api = ky.extend(tokenHooks(tokens, { allowedOrigins: [new URL(authUrl).origin] }))
  expect(await api.get(`${authUrl}/api/orders`).json()).toMatchObject({ path: '/api/orders' })
  await tokens.close()
})
