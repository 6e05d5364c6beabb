import { expect, test } from 'bun:test'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { issueCertificate } from '../support/pki.ts'
import { anyVariant, runProgram } from '../support/program.ts'
import { temporaryDirectory } from '../support/temporary.ts'

const authority = issueCertificate('SERASA Autoridade Certificadora v5', { authority: true })
const [us, bank] = ['12345678', '00038166']
const pairs = {
  [us]: issueCertificate('us', { issuer: authority }),
  [bank]: issueCertificate('bank', { issuer: authority }),
}

/** A folder of certificates in which one of the two has its key. */
const folderOf = (owner: string): string => {
  const folder = temporaryDirectory()
  for (const [ispb, { cert, key }] of Object.entries(pairs)) {
    mkdirSync(join(folder, `${ispb}.SPB.1`))
    writeFileSync(join(folder, `${ispb}.SPB.1`, 'tls.crt'), cert)
    if (ispb === owner) writeFileSync(join(folder, `${ispb}.SPB.1`, 'tls.key'), key)
  }
  return folder
}

test('trilho rsfn seals for the central bank, which opens it, and says why it refuses', async () => {
  const directory = temporaryDirectory()
  const [text, message] = [join(directory, 'text.xml'), join(directory, 'message.bin')]
  const xml = '<DOC><SISMSG>João</SISMSG></DOC>'
  writeFileSync(text, xml)
  const [ours, theirs] = [folderOf(us), folderOf(bank)]
  const rsfn = (owner: string, ...args: readonly string[]) =>
    runProgram(anyVariant, ['rsfn', ...args, '--dir', owner === us ? ours : theirs], {
      env: { ISPB: owner },
    })
  const sealed = await rsfn(us, 'seal', text, '--out', message)
  expect(sealed).toMatchObject({ code: 0, err: '' })
  expect(readFileSync(message).length).toBe(588 + xml.length * 2 + 16)
  expect(await rsfn(bank, 'open', message)).toMatchObject({ code: 0, err: '', out: `${xml}\n` })
  const printed = await rsfn(us, 'seal', text)
  const dump = join(directory, 'message.hex')
  writeFileSync(dump, printed.out)
  const opened = JSON.parse((await rsfn(bank, 'open', dump, '--json')).out)
  expect(opened).toMatchObject({ content: xml, signed: true, encrypted: true })
  const bytes = readFileSync(message)
  bytes[3] = 0x0b
  writeFileSync(message, bytes)
  const refused = await rsfn(bank, 'open', message)
  expect(refused).toMatchObject({ code: 1, out: '' })
  expect(refused.err).toContain('C03: the message reports a refusal: digital signature not valid')
  expect((await rsfn(us, 'open', text)).code).toBe(2)
  expect((await rsfn(us, 'seal', text, '--type', 'PIA')).code).toBe(2)
}, 60_000)
