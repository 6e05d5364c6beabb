import { describe, expect, test } from 'bun:test'
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { anyVariant, root, runProgram, variants } from '../support/program.ts'
import { withScratch } from '../support/second-implementation.ts'

const fixture = (name: string) => join(root, 'test/fixtures/pkcs12', name)

/** A header as a hexadecimal dump shows it: third version, refused with 0B, followed by two bytes. */
const header = `024c030b00000202020304${'30'.repeat(28)}32463443${'07'}${'30'.repeat(28)}41423031${'c4'.repeat(256)}${'c5'.repeat(256)}beef`

describe('trilho certs', () => {
  test('imports into a folder, lists, exports and writes a manifest', async () => {
    await withScratch(async (directory) => {
      const passwordFile = join(directory, 'password')
      writeFileSync(passwordFile, 'segredo\n')
      const certs = (...args: string[]) =>
        runProgram(anyVariant, ['certs', ...args, '--dir', join(directory, 'certs')])
      const name = ['--ispb', '99999010', '--type', 'PIA']
      const password = ['--password-file', passwordFile]
      const imported = await certs('import', fixture('legacy-rc2.p12'), ...name, ...password)
      expect(imported).toMatchObject({ code: 0, err: '' })
      const listed = await certs('list', '--json')
      expect(JSON.parse(listed.out).certificates[0]).toMatchObject({
        version: 1,
        chain_length: 1,
        has_private_key: true,
      })
      const shown = await certs('show', '99999010.PIA.1', '--json')
      expect(JSON.parse(shown.out)).toMatchObject({
        ispb: '99999010',
        type: 'PIA',
        fingerprint_sha256: JSON.parse(listed.out).certificates[0].fingerprint_sha256,
      })
      expect((await certs('show', '99999010.PIA.2')).code).toBe(1)
      const { out } = await certs('export', '99999010.PIA.1', '--private-key')
      expect(new X509Certificate(out).checkPrivateKey(createPrivateKey(out))).toBe(true)
      const manifest = await certs('manifest', '99999010.PIA.1', '--namespace', 'payments')
      expect(manifest.out).toContain('namespace: payments')
      const wrong = await certs('import', fixture('aes.p12'), ...name)
      expect(wrong).toMatchObject({ code: 1 })
      expect(wrong.err).toContain('the password does not open the file')
    })
  }, 60_000)

  for (const variant of variants) {
    test(`${variant.name}: a thread reads each kind of PKCS#12 file`, async () => {
      await withScratch(async (directory) => {
        const passwordFile = join(directory, 'password')
        writeFileSync(passwordFile, 'segredo\n')
        for (const [i, kind] of ['legacy-rc2.p12', 'legacy-3des.p12', 'aes.p12'].entries()) {
          const imported = await runProgram(variant, [
            'certs',
            'import',
            fixture(kind),
            '--dir',
            join(directory, `certs-${i}`),
            '--ispb',
            '99999010',
            '--type',
            'PIA',
            '--password-file',
            passwordFile,
          ])
          expect(imported).toMatchObject({ code: 0, err: '' })
        }
      })
    }, 60_000)
  }

  test('wrong usage is told with exit code 2', async () => {
    const file = fixture('aes.p12')
    for (const args of [
      [],
      ['import'],
      ['import', file, '--ispb', '123', '--type', 'PIA'],
      ['import', file, '--ispb', '99999010', '--type', 'ABC'],
      ['show', '99999010'],
    ]) {
      const { code } = await runProgram(anyVariant, ['certs', ...args, '--dir', '/nonexistent'])
      expect(code, args.join(' ')).toBe(2)
    }
  }, 60_000)
})

test('trilho inspect explains an RSFN header, binary or hexadecimal', async () => {
  await withScratch(async (directory) => {
    const [binary, dump] = [join(directory, 'message.bin'), join(directory, 'message.hex')]
    writeFileSync(binary, Buffer.from(header, 'hex'))
    writeFileSync(dump, header.replace(/(.{32})/g, '$1\n'))
    for (const file of [binary, dump]) {
      const { out, code } = await runProgram(anyVariant, ['inspect', file])
      expect(code).toBe(0)
      expect(out).toContain('refused: digital signature not valid')
      expect(out).toContain('C12 (sender authority)')
      expect(out).toContain('Soluti')
    }
    const { out } = await runProgram(anyVariant, ['inspect', '--json', binary])
    expect(JSON.parse(out)).toMatchObject({ body_bytes: 2 })
  })
}, 60_000)
