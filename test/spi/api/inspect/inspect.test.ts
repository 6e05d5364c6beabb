import { describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ExplainedField, Explanation } from '#src/platform/lifecycle/index.ts'
import { iso20022Inspector } from '#src/spi/index.ts'
import { pacs002, pacs008, shapedSignature, utf8 } from '../../../support/messages.ts'

const explain = async (xml: string): Promise<Explanation> => iso20022Inspector.explain(utf8(xml))

const all = (fields: readonly ExplainedField[]): readonly ExplainedField[] =>
  fields.flatMap((field) => [field, ...all(field.children ?? [])])

const find = async (xml: string, path: string) =>
  all((await explain(xml)).fields).find(({ name }) => name.startsWith(path))

describe('a pacs.008', () => {
  test('is named, shown with plain names, its codes translated', async () => {
    const { title } = await explain(pacs008())
    expect(title).toBe('pacs.008, version 1.13')
    expect(await find(pacs008(), 'IntrBkSttlmAmt')).toEqual({
      path: '/Envelope/Document/FIToFICstmrCdtTrf/CdtTrfTxInf/IntrBkSttlmAmt',
      name: 'IntrBkSttlmAmt (amount)',
      value: '1000.50 BRL',
    })
    expect(await find(pacs008(), 'MndtRltdInf/')).toMatchObject({
      name: 'MndtRltdInf/Tp/LclInstrm/Prtry (how the payment was started)',
      value: 'DICT',
      meaning: 'Pix key typed in',
    })
    expect(await find(pacs008(), 'To/')).toMatchObject({ meaning: 'Banco Central, SPI' })
    expect(await find(pacs008(), 'Tp/Cd')).toMatchObject({ meaning: 'Current account' })
  })

  test('gives its typed value, all transactions', async () => {
    const { value } = await explain(pacs008({ transactions: 3 }))
    expect(value).toMatchObject({ type: 'pacs.008', version: '1.13' })
    expect((value as { transactions: unknown[] }).transactions).toHaveLength(3)
  })

  test('that lacks elements is shown all the same, with every problem and its place', async () => {
    const broken = pacs008()
      .replace(/<Purp>.*<\/Purp>/, '')
      .replace('<ChrgBr>SLEV</ChrgBr>', '')
    const { title, fields } = await explain(broken)
    expect(title).toBe('pacs.008, version 1.13; problems: 2')
    expect(fields[0]?.children?.map(({ name }) => name)).toEqual([
      expect.stringContaining('/ChrgBr'),
      expect.stringContaining('/Purp'),
    ])
    expect(fields[0]?.children?.[0]?.meaning).toMatch(/^line 1, column \d+$/)
  })
})

test('a message of any other type gives its typed value as well', async () => {
  const xml =
    '<Envelope xmlns="https://www.bcb.gov.br/pi/pibr.001/1.3"><AppHdr><Fr><FIId><FinInstnId><Othr><Id>12345678</Id></Othr></FinInstnId></FIId></Fr><To><FIId><FinInstnId><Othr><Id>00038166</Id></Othr></FinInstnId></FIId></To><BizMsgIdr>M1</BizMsgIdr><MsgDefIdr>pibr.001.spi.1.3</MsgDefIdr><CreDt>x</CreDt></AppHdr><Document><EchoReq><GrpHdr><MsgId>M1</MsgId><CreDtTm>x</CreDtTm></GrpHdr><EchoTxInf><Data>hello</Data></EchoTxInf></EchoReq></Document></Envelope>'
  expect((await explain(xml)).value).toMatchObject({ type: 'pibr.001', data: 'hello' })
  const { title, fields } = await explain(xml.replace('<Data>hello</Data>', ''))
  expect(title).toBe('pibr.001, version 1.3; problems: 1')
  expect(fields[0]?.children?.[0]?.name).toEndWith('/EchoTxInf/Data')
})

test('reasons of a refusal are translated', async () => {
  const refused = pacs002(
    '<TxInfAndSts><OrgnlInstrId>E1</OrgnlInstrId><OrgnlEndToEndId>E1</OrgnlEndToEndId><TxSts>RJCT</TxSts><StsRsnInf><Rsn><Cd>AC03</Cd></Rsn></StsRsnInf></TxInfAndSts>',
  )
  expect(await find(refused, 'TxSts')).toMatchObject({ meaning: 'Rejected' })
  expect(await find(refused, 'StsRsnInf')).toMatchObject({
    value: 'AC03',
    meaning: 'Branch or account missing or invalid',
  })
})

test('other XML is shown as a tree, what is not well-formed by its place', async () => {
  const { title, value } = await explain('<a><b>1</b><b>2</b></a>')
  expect(title).toBe('XML, but no message of the SPI')
  expect(value).toEqual({ b: ['1', '2'] })
  await expect(explain('<a>\n<b></a>')).rejects.toThrow('line 2, column')
})

test('recognises XML, also after blanks and a byte order mark', () => {
  for (const xml of ['<a/>', '\ufeff<a/>', ' \n <a/>']) {
    expect(iso20022Inspector.matches(utf8(xml))).toBe(true)
  }
  for (const other of ['', '0100', '00020126', '{"a":1}']) {
    expect(iso20022Inspector.matches(utf8(other))).toBe(false)
  }
})

describe('with validate', () => {
  const signed = pacs008({ signature: shapedSignature.replaceAll('q=', 'A=') })
  const judge = async (xml: string, env: Record<string, string> = {}): Promise<Explanation> =>
    iso20022Inspector.explain(utf8(xml), { validateWith: env })

  test('a valid message is said to be so', async () => {
    const { title, failure } = await judge(signed)
    expect({ title, failure }).toEqual({
      title: 'pacs.008, version 1.13, valid',
      failure: undefined,
    })
  })

  test('violations are shown, and are the failure', async () => {
    const broken = signed.replace('12345678909', '1')
    const { fields, failure } = await judge(broken)
    expect(fields[0]).toMatchObject({
      name: 'Violations',
      children: [{ value: 'pattern', meaning: expect.stringContaining('line 1; got 1 character') }],
    })
    expect(failure).toMatchObject({
      message: 'the message breaks its schema at 1 place(s)',
      violations: [{ rule: 'pattern', line: 1 }],
    })
    expect((await explain(broken)).failure).toBeUndefined()
  })

  test('the schemas of SPI_SCHEMA_DIR judge where it is set', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'inspect-'))
    try {
      const namespace = 'https://www.bcb.gov.br/pi/pacs.008/1.13'
      writeFileSync(
        join(folder, 'strict.xsd'),
        `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" targetNamespace="${namespace}"><xs:element name="Envelope" type="xs:date"/></xs:schema>`,
      )
      const { failure } = await judge(signed, { SPI_SCHEMA_DIR: folder })
      expect(failure?.message).toBe('the message breaks its schema at 1 place(s)')
      await expect(judge(signed, { SPI_SCHEMA_DIR: join(folder, 'absent') })).rejects.toThrow(
        'ENOENT',
      )
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  test('what has no schema is not valid', async () => {
    for (const xml of ['<a/>', signed.replaceAll('/1.13"', '/7.77"')]) {
      expect((await judge(xml)).failure?.message).toBe('there is no schema for this message')
    }
  })
})
