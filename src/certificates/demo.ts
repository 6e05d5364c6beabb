import { generateKeyPair, randomBytes } from 'node:crypto'
import { promisify } from 'node:util'
import { callGateway, type Demo, type DemoGateway } from '#src/platform/lifecycle/index.ts'
import { dayMs } from '#src/platform/runtime/index.ts'
import { forge } from './forge.ts'

const ispb = '12345678'
const validDays = 365

/** A self-signed certificate with its key, for show only. */
const selfSigned = async (): Promise<string> => {
  const { pki, md } = forge()
  const { publicKey, privateKey } = await promisify(generateKeyPair)('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { format: 'pem', type: 'spki' },
    privateKeyEncoding: { format: 'pem', type: 'pkcs8' },
  })
  const certificate = pki.createCertificate()
  certificate.publicKey = pki.publicKeyFromPem(publicKey)
  certificate.serialNumber = `4${randomBytes(15).toString('hex')}`.padStart(32, '0')
  certificate.validity.notBefore = new Date()
  certificate.validity.notAfter = new Date(Date.now() + validDays * dayMs)
  const name = [
    { name: 'countryName', value: 'BR' },
    // The network knows the authorities of its certificates by their chains.
    { name: 'commonName', value: 'Trilho demonstration CSPB-4' },
  ]
  certificate.setSubject(name)
  certificate.setIssuer(name)
  certificate.setExtensions([
    { name: 'keyUsage', critical: true, digitalSignature: true, keyEncipherment: true },
  ])
  certificate.sign(pki.privateKeyFromPem(privateKey), md.sha256.create())
  return pki.certificateToPem(certificate) + privateKey
}

/** Imports a certificate for QR codes and one for the security header at the first start, and lists them. */
export const certificateDemo = async (gateway: DemoGateway): Promise<Demo> => {
  const url = `${gateway.httpUrl}/v1/certificates`
  const list = () => callGateway(gateway.apiKey, 'GET', `${url}?ispb=${ispb}`)
  for (const type of ['SPB', 'QRC']) {
    if ((await list()).output.includes(`"type":"${type}"`)) continue
    const body = { ispb, type, format: 'pem', content: await selfSigned() }
    await gateway.writeSample('certificate.json', JSON.stringify(body))
    await callGateway(gateway.apiKey, 'POST', url, body)
  }
  return { title: 'Certificates, with the days they are valid', ...(await list()) }
}
