import type { AxiosInstance } from 'axios'
import { createAuthRefresh } from 'axios-auth-refresh'
import { closureHeader } from './closure.ts'

/** As its README recommends: it renews on a 401; the header comes from an interceptor of one's own. */
export function attachWithAuthRefresh(instance: AxiosInstance): void {
  const header = closureHeader()
  instance.interceptors.request.use(async (config) => {
    config.headers.set('Authorization', await header())
    return config
  })
  // Its types are those of axios's CommonJS build.
  createAuthRefresh(instance as never, () => Promise.resolve())
}
