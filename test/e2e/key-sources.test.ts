import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { apiKeyFile } from '../support/api-key.ts'
import { createTestDatabase } from '../support/database.ts'
import { freePort } from '../support/free-port.ts'
import { issueCertificate } from '../support/pki.ts'
import { anyVariant, startProgram } from '../support/program.ts'
import { startPeer } from '../support/rotation.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import { until } from '../support/until.ts'

const ispb = '12345678'

test('the link shows the certificate of the store, and the next one when it is there', async () => {
  const authority = issueCertificate('authority', { authority: true })
  const server = issueCertificate('bank', { issuer: authority, hosts: ['127.0.0.1'] })
  const peer = await startPeer(server, authority.cert, () => ({ status: 204, body: '' }))
  const folder = temporaryDirectory()
  const install = async (version: number, name: string): Promise<void> => {
    const { cert, key } = issueCertificate(name, { issuer: authority })
    await Bun.write(join(folder, `${ispb}.PIC.${version}`, 'tls.key'), key)
    await Bun.write(join(folder, `${ispb}.PIC.${version}`, 'tls.crt'), cert)
  }
  await install(1, 'first')
  const database = await createTestDatabase()
  const { file } = await apiKeyFile('ops:read')
  const gateway = startProgram(anyVariant, ['serve'], {
    env: {
      HTTP_ADDR: `127.0.0.1:${freePort()}`,
      CARDGW_PORT: '0',
      DATABASE_DSN: database.dsn,
      API_KEYS_FILE: file,
      ISPB: ispb,
      SPI_PRIMARY_URL: peer.url,
      SPI_ROLES: 'INBOUND_PULL',
      CERT_SOURCE: 'store',
      TRILHO_CERTS_DIR: folder,
      CA_BASE64: Buffer.from(authority.cert).toString('base64'),
    },
  })
  const ended = gateway.end()
  try {
    await until(() => peer.shown.includes('first'), 40_000)
    await install(2, 'second')
    await until(() => peer.shown.includes('second'), 40_000)
    gateway.signal('SIGTERM')
    expect((await ended).code).toBe(0)
  } finally {
    gateway.signal('SIGKILL')
    await ended
    peer.stop()
    await database.close()
  }
}, 120_000)
