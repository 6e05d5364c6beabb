import { expect, test } from 'bun:test'
import type { AddressInfo } from 'node:net'
import tls from 'node:tls'
import { createFileMaterial } from '#src/platform/security/index.ts'
import { issueCertificate } from '../../support/pki.ts'
import { interfaceClient } from './support.ts'

const cipher = 'ECDHE-RSA-AES128-GCM-SHA256'

test('TLS 1.2 with the one cipher suite that every participant must have, and our certificate shown', async () => {
  const authority = issueCertificate('Authority', { authority: true })
  const { cert, key } = issueCertificate('icom', { issuer: authority, hosts: ['127.0.0.1'] })
  const ours = issueCertificate('participant', { issuer: authority })
  const pem = (text: string) => ({ text, path: undefined })
  const seen: (readonly unknown[])[] = []
  const server = tls.createServer(
    {
      cert,
      key,
      ca: authority.cert,
      requestCert: true,
      rejectUnauthorized: true,
      minVersion: 'TLSv1.2',
      maxVersion: 'TLSv1.2',
      ciphers: cipher,
    },
    (socket) => {
      const { subject } = socket.getPeerCertificate()
      seen.push([socket.getProtocol(), socket.getCipher().name, subject.CN])
      socket.on('data', () => {
        socket.write('HTTP/1.1 201 X\r\nPI-ResourceId: id\r\nContent-Length: 0\r\n\r\n')
      })
    },
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()))
  const material = createFileMaterial({
    certificate: pem(ours.cert),
    key: pem(ours.key),
    ca: pem(authority.cert),
  })
  const { port } = server.address() as AddressInfo
  const client = interfaceClient({ PRIMARY: `https://127.0.0.1:${port}` }, { tls: material })
  const outcome = await client.send('PRIMARY', [Buffer.from('<a/>')])
  expect(outcome).toEqual({ kind: 'accepted', resourceIds: ['id'] })
  expect(seen).toEqual([['TLSv1.2', cipher, 'participant']])
  server.close()
})
