import { describe, expect, test } from 'bun:test'
import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { rsfnSpecialUse, sealRsfn } from '#codecs/rsfn'
import { loadSettings } from '#src/platform/config/index.ts'
import { rsfnInspector, spiProblems, spiSettings } from '#src/spi/index.ts'
import { createRsfnSealPorts } from '../../../../src/spi/link/rsfn/crypto.ts'

const rsa = (modulusLength = 2048) => generateKeyPairSync('rsa', { modulusLength })
const [ours, theirs] = [rsa(), rsa()]
const base64 = (key: KeyObject): string => {
  const type = key.type === 'private' ? 'pkcs8' : 'spki'
  return Buffer.from(key.export({ format: 'pem', type }).toString()).toString('base64')
}
const env = {
  RSFN_PRIVATE_KEY_BASE64: base64(ours.privateKey),
  RSFN_PUBLIC_KEY_BASE64: base64(theirs.publicKey),
}
const xml = '<DOC><SISMSG>Jo\u00e3o</SISMSG></DOC>'
const seal = (more: Partial<Parameters<typeof sealRsfn>[0]> = {}) =>
  sealRsfn(
    {
      content: xml,
      sender: { authority: 4, serial: '2F4C' },
      destination: { authority: 5, serial: 'AB01' },
      ...more,
    },
    createRsfnSealPorts(theirs.privateKey, ours.publicKey),
  )

describe('a header of the network', () => {
  test('is explained in binary and in hexadecimal, of any length', async () => {
    const message = await seal()
    const hex = Buffer.from(message).toString('hex')
    for (const input of [message, Buffer.from(hex), Buffer.from(` ${hex.toUpperCase()}\n`)]) {
      expect(rsfnInspector.matches(input)).toBe(true)
      const { title, fields } = await rsfnInspector.explain(input)
      expect(title).toBe(`RSFN security header, ${xml.length * 2 + 16} bytes of body`)
      expect(fields.length).toBe(15)
    }
    expect(rsfnInspector.matches(Buffer.from(`${hex}0`))).toBe(false)
    expect(rsfnInspector.matches(Buffer.from(`024c${'00'.repeat(8_000_000)}`))).toBe(true)
  })

  test('opened, shows text and what held', async () => {
    const { fields, value } = await rsfnInspector.explain(await seal(), { openWith: env })
    expect(fields.at(-1)).toEqual({
      name: 'body',
      value: xml,
      meaning: 'decrypted, signature valid',
    })
    expect(value).toMatchObject({ content: xml, signed: true, encrypted: true })
  })

  test('a body that is no text is shown in base64', async () => {
    const content = Uint8Array.of(1, 2, 3)
    const message = await seal({ content, specialUse: rsfnSpecialUse.FILE_NOT_COMPRESSED })
    const { value } = await rsfnInspector.explain(message, { openWith: env })
    expect(value).toMatchObject({ content: 'AQID' })
  })

  test('altered, gives the code of C03', async () => {
    const message = await seal()
    message[600] = message[600]! ^ 1
    const { failure } = await rsfnInspector.explain(message, { openWith: env })
    expect(failure).toMatchObject({ code: 0x0e })
  })

  test('is not opened without the key it needs, or with one that does not fit', async () => {
    const message = await seal()
    const open = async (openWith: Readonly<Record<string, string>>) =>
      rsfnInspector.explain(message, { openWith })
    const { RSFN_PRIVATE_KEY_BASE64, RSFN_PUBLIC_KEY_BASE64 } = env
    await expect(open({ RSFN_PUBLIC_KEY_BASE64 })).rejects.toThrow('needs RSFN_PRIVATE_KEY_PATH')
    await expect(open({ RSFN_PRIVATE_KEY_BASE64 })).rejects.toThrow('needs RSFN_PUBLIC_KEY_PATH')
    await expect(
      open({ ...env, RSFN_PUBLIC_KEY_BASE64: base64(rsa(1024).publicKey) }),
    ).rejects.toThrow('RSFN_PUBLIC_KEY_PATH is not RSA-2048')
  })
})

test('keys that do not fit are told at the start', () => {
  const problemsOf = (env: Readonly<Record<string, string>>) =>
    spiProblems(loadSettings({ spi: spiSettings }, env).values.spi, {
      dsn: undefined,
      brokerAddresses: undefined,
    }).map(({ name, problem }) => `${name} ${problem}`)
  expect(problemsOf(env)).toEqual([])
  const ec = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
  expect(
    problemsOf({
      RSFN_PRIVATE_KEY_BASE64: base64(ec.privateKey),
      RSFN_PUBLIC_KEY_BASE64: base64(rsa(1024).publicKey),
    }),
  ).toEqual(['RSFN_PRIVATE_KEY_PATH is not RSA-2048', 'RSFN_PUBLIC_KEY_PATH is not RSA-2048'])
})
