import { describe, expect, test } from 'bun:test'
import { createPrivateKey, createPublicKey, sign, verify } from 'node:crypto'
import { join } from 'node:path'
import { createXmlScanner } from '#codecs/xml'
import {
  parseName,
  prepareKeyInfo,
  type SignerCertificate,
  signEnvelope,
  signWhole,
  type VerifyPorts,
  verifyEnvelope,
  verifyWhole,
} from '#codecs/xmldsig'
import { envelopeOf, sha256 } from '../support/envelope.ts'
import { javaProgram } from '../support/java.ts'
import { issueCertificate } from '../support/pki.ts'
import { pythonWith } from '../support/python-tools.ts'
import { runTool, unlessMissing, withScratch } from '../support/second-implementation.ts'

const java = unlessMissing('java')
const program = () => javaProgram(join(import.meta.dir, 'java/XmldsigPeer.java'))
const pair = issueCertificate('AC Teste')
const issuer = 'CN=AC Teste, OU=CSPB-4, O=ICP-Brasil, C=BR'
const publicKey = createPublicKey(pair.cert)
const privateKey = createPrivateKey(pair.key)
const body =
  '<FIToFIPmtStsRpt><TxInfAndSts><Amt Ccy="BRL">100.00</Amt>' +
  '<Nm>Irm\u00e3os &amp; Cia &lt;1&gt;</Nm></TxInfAndSts></FIToFIPmtStsRpt>'

const signed = async (): Promise<Uint8Array> => {
  const key = prepareKeyInfo(issuer, pair.serial, 'ki-1', sha256)
  const signBytes = async (bytes: Uint8Array) => sign('sha256', bytes, privateKey)
  return signEnvelope(envelopeOf(body), key, sha256, signBytes)
}

const ports: VerifyPorts<SignerCertificate> = {
  sha256,
  findCertificate: (name, serial) =>
    parseName(name) === parseName(issuer) && serial === pair.serial
      ? { valid: true, verify: (content, value) => verify('sha256', content, publicKey, value) }
      : undefined,
}

const verdict = (bytes: Uint8Array): string => {
  const result = verifyEnvelope(createXmlScanner().scan(bytes), ports)
  return result.ok ? 'ok' : result.code
}

const wholeVerdict = (xml: string): string => {
  const result = verifyWhole(createXmlScanner().scan(new TextEncoder().encode(xml)), ports)
  return result.ok ? 'ok' : result.code
}

describe.skipIf(java.missing)(`the JDK's XMLDSig${java.note}`, () => {
  test('accepts what we sign, refuses it altered', async () => {
    await withScratch(async (directory) => {
      const [keyFile, good, bad] = ['key.der', 'good.xml', 'bad.xml'].map((name) =>
        join(directory, name),
      ) as [string, string, string]
      const message = await signed()
      await Bun.write(keyFile, publicKey.export({ format: 'der', type: 'spki' }))
      await Bun.write(good, message)
      await Bun.write(bad, new TextDecoder().decode(message).replace('100.00', '900.00'))
      const check = (file: string) => runTool([...program(), 'verify', keyFile, file])
      expect(check(good)).toMatchObject({ stdout: 'valid', stderr: '' })
      expect(check(bad).stdout).toBe('invalid')
    })
  }, 60_000)

  test('signs what we accept, in its own layout; altered we refuse it', async () => {
    await withScratch(async (directory) => {
      const [keyFile, unsigned, out] = ['key.der', 'unsigned.xml', 'signed.xml'].map((name) =>
        join(directory, name),
      ) as [string, string, string]
      await Bun.write(keyFile, privateKey.export({ format: 'der', type: 'pkcs8' }))
      await Bun.write(unsigned, envelopeOf(body).bytes)
      const made = runTool([...program(), 'sign', keyFile, unsigned, issuer, pair.serial, out])
      expect(made.stderr).toBe('')
      const text = await Bun.file(out).text()
      expect(text).toContain('&#13;')
      expect(verdict(new TextEncoder().encode(text))).toBe('ok')
      const altered = text.replace('100.00', '900.00')
      expect(verdict(new TextEncoder().encode(altered))).toBe('digest_document')
    })
  }, 60_000)
})

const request =
  '<CreateEntryRequest>\n  <Entry><Key>joao@example.com</Key><Name>Irm\u00e3os &amp; Cia</Name><TradeName/></Entry>' +
  '\n  <Reason>USER_REQUESTED</Reason>\n</CreateEntryRequest>'

const signedWhole = (): Promise<Uint8Array> => {
  const document = createXmlScanner().scan(new TextEncoder().encode(request))
  const signBytes = async (bytes: Uint8Array) => sign('sha256', bytes, privateKey)
  return signWhole(document, { issuer, serial: pair.serial, id: 'ki-1', sign: signBytes }, sha256)
}

describe.skipIf(java.missing)(`the JDK's XMLDSig, of a document signed whole${java.note}`, () => {
  test('accepts what we sign, refuses it altered', async () => {
    await withScratch(async (directory) => {
      const [keyFile, good, bad] = ['key.der', 'good.xml', 'bad.xml'].map((name) =>
        join(directory, name),
      ) as [string, string, string]
      const message = await signedWhole()
      await Bun.write(keyFile, publicKey.export({ format: 'der', type: 'spki' }))
      await Bun.write(good, message)
      await Bun.write(bad, new TextDecoder().decode(message).replace('joao@', 'jose@'))
      const check = (file: string) => runTool([...program(), 'verify', keyFile, file])
      expect(check(good)).toMatchObject({ stdout: 'valid', stderr: '' })
      expect(check(bad).stdout).toBe('invalid')
    })
  }, 60_000)

  test('signs what we accept; altered we refuse it', async () => {
    await withScratch(async (directory) => {
      const [keyFile, unsigned, out] = ['key.der', 'unsigned.xml', 'signed.xml'].map((name) =>
        join(directory, name),
      ) as [string, string, string]
      await Bun.write(keyFile, privateKey.export({ format: 'der', type: 'pkcs8' }))
      await Bun.write(unsigned, request)
      const made = runTool([...program(), 'sign', keyFile, unsigned, issuer, pair.serial, out])
      expect(made.stderr).toBe('')
      const text = await Bun.file(out).text()
      expect(wholeVerdict(text)).toBe('ok')
      expect(wholeVerdict(text.replace('joao@', 'jose@'))).toBe('digest_root')
    })
  }, 60_000)
})

const xmlsec = pythonWith('xmlsec')
const noXmlsec = xmlsec === undefined ? ' [skipped: no python3 with xmlsec and no way to PyPI]' : ''
const xmlsecProgram = join(import.meta.dir, 'python/xmldsig_peer.py')

/** What libxmlsec says of a document, or the document as it has signed it. */
const byXmlsec = (action: 'sign' | 'verify', text: string): Promise<string> =>
  withScratch(async (directory) => {
    const [keyFile, file] = [join(directory, 'key.pem'), join(directory, 'message.xml')]
    const pem =
      action === 'sign'
        ? privateKey.export({ format: 'pem', type: 'pkcs8' })
        : publicKey.export({ format: 'pem', type: 'spki' })
    await Promise.all([Bun.write(keyFile, pem), Bun.write(file, text)])
    const { stdout, stderr } = runTool([xmlsec ?? '', xmlsecProgram, action, keyFile, file])
    expect(stderr).toBe('')
    return stdout.trim()
  })

describe.skipIf(xmlsec === undefined)(`libxmlsec${noXmlsec}`, () => {
  test('accepts a document that we sign whole, refuses it altered', async () => {
    const message = new TextDecoder().decode(await signedWhole())
    expect(await byXmlsec('verify', message)).toBe('valid')
    expect(await byXmlsec('verify', message.replace('joao@', 'jose@'))).toBe('invalid')
  }, 60_000)

  test('signs whole what we accept; altered we refuse it', async () => {
    const form = new TextDecoder().decode(await signedWhole()).replace('joao@', 'jose@')
    const text = await byXmlsec('sign', form)
    expect(text).toContain('jose@')
    expect(wholeVerdict(form)).toBe('digest_root')
    expect(wholeVerdict(text)).toBe('ok')
    expect(wholeVerdict(text.replace('jose@', 'joao@'))).toBe('digest_root')
  }, 60_000)

  /**
   * It resolves the reference to KeyInfo and, for `URI=""`, the whole document. So it is given AppHdr alone as a
   * document, with the third reference gone and SignedInfo signed again.
   */
  test('accepts KeyInfo, AppHdr and value of a message, refuses it altered', async () => {
    const message = new TextDecoder().decode(await signed())
    const namespace = /<Envelope xmlns="([^"]+)"/.exec(message)?.[1]
    const appHdr = (/<AppHdr>.*<\/AppHdr>/s.exec(message)?.[0] ?? '').replace(
      '<AppHdr>',
      `<AppHdr xmlns="${namespace}">`,
    )
    const two = appHdr.replace(/<ds:Reference><ds:Transforms>.*?<\/ds:Reference>/s, '')
    const signedInfo = (/<ds:SignedInfo>.*<\/ds:SignedInfo>/s.exec(two)?.[0] ?? '').replace(
      '<ds:SignedInfo>',
      '<ds:SignedInfo xmlns:ds="http://www.w3.org/2000/09/xmldsig#">',
    )
    const value = sign('sha256', Buffer.from(signedInfo), privateKey).toString('base64')
    const resigned = two.replace(/(<ds:SignatureValue>)[^<]*/, (_, tag: string) => tag + value)
    expect(await byXmlsec('verify', resigned)).toBe('valid')
    expect(await byXmlsec('verify', resigned.replace('M9999901', 'M8888801'))).toBe('invalid')
  }, 60_000)
})
