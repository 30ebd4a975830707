import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { describe, expect, it, onTestFinished } from 'vitest'
import { examined } from './run-doctor.ts'
import { startTlsServer, type TlsServer, type TlsServerOptions } from './tls-server.ts'

const day = 86_400_000
const env = { CLIENT_ID: 'demo', CLIENT_SECRET: 'canary-secret' }

async function server(options: TlsServerOptions & { readonly trusted: boolean }): Promise<TlsServer> {
  const started = await startTlsServer(options)
  if (options.trusted) {
    const before = getCACertificates()
    setDefaultCACertificates([...before, started.certificate])
    onTestFinished(() => setDefaultCACertificates(before))
  }
  return started
}

const doctor = ({ origin }: Pick<TlsServer, 'origin'>) =>
  examined(['--token-endpoint', `${origin}/token`], env)

describe('doctor and certificates', () => {
  it('reports how long a certificate is valid', async () => {
    const started = await server({ trusted: true })
    const { faults, textOf } = await doctor(started)
    expect(faults).toStrictEqual([])
    expect(textOf('trusted')).toMatch(/^TLSv1\.3 handshake in .*expires in (?:90 days|89 days 23 h)/)
    expect(started.requests).toHaveLength(1)
    // The probe and the request.
    expect(started.namedServers).toStrictEqual(['localhost', 'localhost'])
  })

  it('reports plain HTTP on a port for TLS', async () => {
    const { origin } = await server({ trusted: true })
    const { faults, textOf } = await doctor({ origin: origin.replace('https:', 'http:') })
    expect(faults).toStrictEqual(['connection_dropped'])
    expect(textOf('connection_dropped')).toContain('may expect https://')
  })

  it('warns of a certificate that expires soon', async () => {
    const { faults, textOf } = await doctor(await server({ trusted: true, toDays: 5 }))
    expect(faults).toStrictEqual(['certificate_expires_soon'])
    expect(textOf('certificate_expires_soon')).toMatch(/expires in (?:5 days|4 days 23 h) \(/)
  })

  it.each<[string, TlsServerOptions & { trusted: boolean }, RegExp]>([
    [
      'certificate_self_signed',
      { trusted: false },
      /issued by localhost, whose own certificate is self-signed/,
    ],
    [
      'certificate_untrusted',
      { trusted: false, byAuthority: true },
      /by an-authority is not trusted \(UNABLE_TO/,
    ],
    [
      'certificate_wrong_host',
      { trusted: true, name: 'other.example' },
      /DNS:other\.example, not for localhost/,
    ],
    [
      'certificate_expired',
      { trusted: true, fromDays: -9, toDays: -2 },
      new RegExp(`expired on ${new Date(Date.now() - 2 * day).toUTCString().slice(8, 11)}`),
    ],
    ['certificate_not_yet_valid', { trusted: true, fromDays: 2 }, /Check this machine's clock/],
  ])('names %s, and sends nothing', async (code, options, text) => {
    const started = await server(options)
    const { faults, textOf } = await doctor(started)
    expect(faults).toStrictEqual([code])
    expect(textOf(code)).toMatch(text)
    expect(textOf(code)).toContain('No request was sent.')
    expect(started.requests).toHaveLength(0)
  })
})
