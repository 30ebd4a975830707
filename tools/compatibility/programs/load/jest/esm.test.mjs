import * as axiosInterceptor from '@tokenwell/axios-interceptor'
import * as core from '@tokenwell/core'
import { tokenHooks } from '@tokenwell/ky-hook'
import axios from 'axios'
import ky from 'ky'
import { credentials, expected, usePackages } from '../use-packages.js'

test('imports the packages', async () => {
  expect(await usePackages({ core, axiosInterceptor, axios })).toEqual(expected)
})

test('imports the hook of ky, and ky', async () => {
  const { API_URL } = process.env
  const tokens = core.clientCredentials(credentials)
  const api = ky.extend(tokenHooks(tokens, { allowedOrigins: [API_URL] }))
  expect(await api.get(`${API_URL}/v1/orders`).json()).toHaveLength(2)
  await tokens.close()
})
