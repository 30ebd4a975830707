import type { RequestHandler } from 'express'

/**
 * Refuses what other sites have a browser send: `SameSite` cookies stay at home on other sites, but not on
 * other ports and subdomains of the same one.
 */
export function sameOriginOnly(): RequestHandler {
  return (request, response, next) => {
    const { origin, host, 'sec-fetch-site': site } = request.headers
    const own = site === undefined || site === 'same-origin' || site === 'none'
    const ownOrigin = origin === undefined || (URL.canParse(origin) && new URL(origin).host === host)
    if (request.method === 'GET' || request.method === 'HEAD' || (own && ownOrigin)) return next()
    response
      .status(403)
      .json({ error: { code: 'foreign_origin', message: 'This page is not ours to answer.' } })
  }
}
