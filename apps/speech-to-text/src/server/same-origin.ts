import type { RequestHandler } from 'express'

/**
 * Rejects requests that other sites make a browser send. `SameSite` cookies are not sent from other sites, but they are
 * from other ports and subdomains of the same site.
 */
export function sameOriginOnly(): RequestHandler {
  return (request, response, next) => {
    const { origin, host, 'sec-fetch-site': site } = request.headers
    const sameSite = site === undefined || site === 'same-origin' || site === 'none'
    const sameOrigin = origin === undefined || (URL.canParse(origin) && new URL(origin).host === host)
    if (request.method === 'GET' || request.method === 'HEAD' || (sameSite && sameOrigin)) return next()
    const message = 'Requests from other origins are not allowed.'
    response.status(403).json({ error: { code: 'cross_origin', message } })
  }
}
