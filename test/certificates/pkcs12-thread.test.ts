import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pkcs12BytesMax, pkcs12RoundsMax } from '../../src/certificates/pkcs12.ts'
import { createPkcs12Opener, pkcs12WaitingMax } from '../../src/certificates/pkcs12-thread.ts'
import { makePkcs12 } from '../support/pkcs12.ts'
import { issueCertificate } from '../support/pki.ts'

const file = (name: string) =>
  new Uint8Array(readFileSync(join(import.meta.dir, '../fixtures/pkcs12', name)))
const pair = issueCertificate('thread')
const slow = makePkcs12(pair, 'segredo', { keyRounds: pkcs12RoundsMax })

const reasonOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'read',
    (error: { readonly reason?: string; readonly name: string }) => error.reason ?? error.name,
  )

describe('a thread for each file', () => {
  for (const name of ['legacy-rc2.p12', 'legacy-3des.p12', 'aes.p12']) {
    test(`${name}: with the password, with another, and cut`, async () => {
      const { open } = createPkcs12Opener()
      const { key, certificates } = await open(file(name), 'segredo')
      expect(key?.length).toBeGreaterThan(100)
      expect(certificates.length).toBe(2)
      expect(await reasonOf(open(file(name), 'errada'))).toBe('wrong_password')
      expect(await reasonOf(open(file(name).subarray(0, 900), 'segredo'))).toBe('damaged')
    })
  }

  test('262144 bytes are looked at, one more is not', async () => {
    const { open } = createPkcs12Opener()
    expect(await reasonOf(open(new Uint8Array(pkcs12BytesMax), ''))).toBe('damaged')
    expect(await reasonOf(open(new Uint8Array(pkcs12BytesMax + 1), ''))).toBe('too_large')
  })

  test('the event loop goes on while the most rounds are worked', async () => {
    let turns = 0
    const timer = setInterval(() => turns++, 5)
    await createPkcs12Opener().open(slow, 'segredo')
    clearInterval(timer)
    // A held loop would count one or two, however long it takes.
    expect(turns).toBeGreaterThan(4)
  })

  test('a file that takes longer than it may is given up, and the next one is read', async () => {
    const { open } = createPkcs12Opener(20)
    expect(await reasonOf(open(slow, 'segredo'))).toBe('timed_out')
    const patient = createPkcs12Opener()
    expect(await reasonOf(patient.open(file('aes.p12'), 'segredo'))).toBe('read')
  })

  test('one is read and eight wait; one more is turned away', async () => {
    const { open } = createPkcs12Opener()
    const admitted = Array.from({ length: pkcs12WaitingMax + 1 }, () =>
      reasonOf(open(file('aes.p12'), 'segredo')),
    )
    expect(await reasonOf(open(file('aes.p12'), 'segredo'))).toBe('Pkcs12BusyError')
    expect(new Set(await Promise.all(admitted))).toEqual(new Set(['read']))
    expect(await reasonOf(open(file('aes.p12'), 'segredo'))).toBe('read')
  })
})
