import { describe, expect, test } from 'bun:test'
import { CodecError } from '#codecs/bytes'
import { canonicalIssuer, issuerText, nameCharsMax, parseName } from '#codecs/xmldsig'
import { runTool, unlessMissing, withScratch } from '../../support/second-implementation.ts'

const openssl = unlessMissing('openssl')
const name = 'CN=SERASA Autoridade Certificadora v5, OU=CSPB-4, O=ICP-Brasil, C=BR'

const codeOf = (text: string): string => {
  try {
    parseName(text)
  } catch (error) {
    if (error instanceof CodecError) return error.code
    throw error
  }
  return 'no error'
}

describe('the same name', () => {
  const spellings: Readonly<Record<string, string>> = {
    'no blanks': 'CN=SERASA Autoridade Certificadora v5,OU=CSPB-4,O=ICP-Brasil,C=BR',
    'blanks around separators':
      ' CN = SERASA Autoridade Certificadora v5 , OU=CSPB-4,O=ICP-Brasil , C=BR ',
    'order of the encoding': 'C=BR, O=ICP-Brasil, OU=CSPB-4, CN=SERASA Autoridade Certificadora v5',
    semicolons: 'CN=SERASA Autoridade Certificadora v5;OU=CSPB-4;O=ICP-Brasil;C=BR',
    'lower case': name.toLowerCase(),
    'two blanks inside': name.replace('Autoridade', ' Autoridade '),
    quoted: 'CN="SERASA Autoridade Certificadora v5", OU=CSPB-4, O=ICP-Brasil, C=BR',
    'escaped characters':
      'CN=SERASA Autoridade Certificadora\\ v5, OU=CSPB\\2D4, O=ICP-Brasil, C=BR',
    'dotted types':
      '2.5.4.3=SERASA Autoridade Certificadora v5, OID.2.5.4.11=CSPB-4, O=ICP-Brasil, C=BR',
    'encoded value':
      'CN=SERASA Autoridade Certificadora v5, OU=#0c06435350422d34, O=ICP-Brasil, C=BR',
  }
  for (const [label, spelling] of Object.entries(spellings)) {
    test(label, () => expect(parseName(spelling)).toBe(parseName(name)))
  }
  test('escaped UTF-8', () => {
    expect(parseName('CN=Jo\\C3\\A3o')).toBe(parseName('CN=João'))
  })
  test('parts of a component in any order', () => {
    expect(parseName('CN=a+OU=b, C=BR')).toBe(parseName('OU=b + CN=a,C=BR'))
  })
})

describe('other names', () => {
  for (const other of [
    'CN=SERASA Autoridade Certificadora v6, OU=CSPB-4, O=ICP-Brasil, C=BR',
    'CN=SERASA Autoridade Certificadora v5, OU=CSPB-4, O=ICP-Brasil',
    'OU=SERASA Autoridade Certificadora v5, CN=CSPB-4, O=ICP-Brasil, C=BR',
    'CN=SERASA Autoridade Certificadora v5, O=ICP-Brasil, OU=CSPB-4, C=BR',
    'CN=SERASA Autoridade Certificadora v5+OU=CSPB-4, O=ICP-Brasil, C=BR',
    'CN=SERASA Autoridade Certificadora v5\\, OU=CSPB-4, O=ICP-Brasil, C=BR',
  ]) {
    test(other, () => expect(parseName(other)).not.toBe(parseName(name)))
  }
})

describe('refused', () => {
  const cases: readonly [string, string][] = [
    ['', 'name_syntax'],
    ['CN', 'name_syntax'],
    ['CN=a,', 'name_syntax'],
    ['CN="a', 'name_syntax'],
    ['CN="a"b', 'name_syntax'],
    ['CN=a"b', 'name_syntax'],
    ['CN=a\\', 'name_syntax'],
    ['CN=a\\4', 'name_syntax'],
    ['CN=#', 'name_syntax'],
    ['CN=#0c', 'der'],
    ['XX=a', 'name_type'],
  ]
  for (const [text, code] of cases)
    test(JSON.stringify(text), () => expect(codeOf(text)).toBe(code))

  test('1024 characters are read, 1025 are not', () => {
    expect(codeOf(`CN=${'a'.repeat(nameCharsMax - 3)}`)).toBe('no error')
    expect(codeOf(`CN=${'a'.repeat(nameCharsMax - 2)}`)).toBe('name_length')
  })
})

test.skipIf(openssl.missing)(`issuers as openssl writes them${openssl.note}`, async () => {
  await withScratch(async (directory) => {
    for (const subject of [
      '/C=BR/O=ICP-Brasil/OU=CSPB-4/CN=AC Teste',
      '/C=BR/O=Banco, Irmãos \\+ Cia/CN=#1 \\"A\\" <b>; ',
      '/C=BR/emailAddress=a@b.example/serialNumber=12/CN=x',
    ]) {
      const run = (...args: string[]) => {
        const result = runTool(['openssl', ...args])
        if (result.exitCode !== 0) throw new Error(result.stderr)
        return result.stdout
      }
      const pem = `${directory}/c.pem`
      run(
        'req',
        '-x509',
        '-newkey',
        'rsa:2048',
        '-nodes',
        '-utf8',
        '-subj',
        subject,
        '-keyout',
        `${directory}/k.pem`,
        '-out',
        pem,
      )
      run('x509', '-in', pem, '-outform', 'DER', '-out', `${directory}/c.der`)
      const der = new Uint8Array(await Bun.file(`${directory}/c.der`).arrayBuffer())
      const printed = run(
        'x509',
        '-in',
        pem,
        '-noout',
        '-issuer',
        '-nameopt',
        'RFC2253,utf8,-esc_msb',
      )
      expect(parseName(printed.replace(/^issuer=/, '').replace(/\n$/, ''))).toBe(
        canonicalIssuer(der),
      )
      expect(parseName(issuerText(der))).toBe(canonicalIssuer(der))
    }
  })
})
