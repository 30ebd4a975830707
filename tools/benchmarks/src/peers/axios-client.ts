import { AxiosError, AxiosHeaders, create, type AxiosInstance } from 'axios'
import { respondFromApi, apiOrigin } from '../api.ts'

/** An axios instance whose transport is the API inside this process. */
export function axiosClient(): AxiosInstance {
  return create({
    baseURL: apiOrigin,
    async adapter(config) {
      const found = respondFromApi(String(config.headers.get('Authorization') ?? ''))
      const status = typeof found === 'number' ? found : await found
      const response = { data: '{}', status, statusText: '', headers: new AxiosHeaders(), config }
      if (status === 200) return response
      throw new AxiosError('Rejected', AxiosError.ERR_BAD_REQUEST, config, undefined, response)
    },
  })
}
