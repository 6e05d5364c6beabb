import { afterAll, describe, expect, test } from 'bun:test'
import { checkReach } from '#src/platform/lifecycle/index.ts'
import { freePort } from '../../support/free-port.ts'
import { issueCertificate } from '../../support/pki.ts'

const dayMs = 86_400_000
const around = (days: number) => ({
  notBefore: new Date(Date.now() + (days - 1) * dayMs),
  notAfter: new Date(Date.now() + days * dayMs),
})
const authority = issueCertificate('authority', { authority: true })
const stranger = issueCertificate('stranger', { authority: true })
const hosts = ['127.0.0.1']

const servers: Bun.Server<undefined>[] = []
afterAll(() => Promise.all(servers.map((server) => server.stop(true))))

const reached = async (protocol: string, tls?: Bun.TLSOptions) => {
  const fetch = () => new Response()
  const server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch, ...(tls && { tls }) })
  servers.push(server)
  const url = `${protocol}://127.0.0.1:${server.port}/path`
  return checkReach('Counterparty', url, 'ITS_URL', { ca: authority.cert })
}

describe('a counterparty', () => {
  test.each([
    ['http', undefined],
    ['https', issueCertificate('good', { issuer: authority, hosts })],
  ])('that can be reached over %s', async (protocol, tls) => {
    expect(await reached(protocol, tls)).toMatchObject({ status: 'ok' })
  })

  test.each([
    ['is over', 'EXPIRED', { issuer: authority, hosts, ...around(-3) }],
    ['begins later', 'NOT_YET', { issuer: authority, hosts, ...around(3) }],
    ['is of another host', 'ALTNAME', { issuer: authority, hosts: ['bank.example'] }],
    ['is of another authority', 'VERIFY', { issuer: stranger, hosts }],
  ])('whose certificate %s fails', async (_, code, options) => {
    const check = await reached('https', issueCertificate('bad', options))
    expect(check).toMatchObject({ status: 'failed' })
    expect(JSON.stringify(check)).toContain(code)
  })

  test('that speaks no TLS fails, and so does one that is not there', async () => {
    expect(await reached('https')).toMatchObject({ status: 'failed' })
    const nowhere = `https://127.0.0.1:${freePort()}`
    const check = await checkReach('Counterparty', nowhere, 'ITS_URL')
    expect(JSON.stringify(check)).toContain('ECONNREFUSED')
  })
})
