/** Lists as others publish them: what is taken, and what is refused with its place. */
import { describe, expect, test } from 'bun:test'
import { createHolidayBook, lawfulHolidays } from '../../src/reference/holidays/domain.ts'
import { differencesOf, readHolidays } from '../../src/reference/holidays/read.ts'
import { knownParticipants } from '../../src/reference/participants/domain.ts'
import { participantsMin, readParticipants } from '../../src/reference/participants/read.ts'
import { participantUrls } from '../../src/reference/refresh.ts'
import { ListError, textOf } from '../../src/reference/text.ts'

const refusal = (read: () => unknown): string => {
  try {
    read()
  } catch (error) {
    if (error instanceof ListError) return error.message
    throw error
  }
  return 'taken'
}

const brazilian = (day: string): string => day.split('-').toReversed().join('/')
const tableOf = (years: readonly number[], separator = ';'): string =>
  years
    .flatMap(lawfulHolidays)
    .map(({ day, name }) => [brazilian(day), 'segunda-feira', name].join(separator))
    .join('\r\n')

describe('holidays', () => {
  test('are read from a table with titles, notes and any usual separator', () => {
    for (const separator of [';', ',', '\t']) {
      const text = `Data${separator}Dia da Semana${separator}Feriado\r\n${tableOf([2026, 2027], separator)}\r\nFonte: ANBIMA\r\n`
      expect(readHolidays(text)).toEqual([2026, 2027].flatMap(lawfulHolidays))
    }
  })

  test('are read from JSON, with the names that programs use', () => {
    const days = lawfulHolidays(2030)
    for (const names of [
      ['date', 'name'],
      ['day', 'name'],
      ['date', 'localName'],
    ] as const) {
      const [day, name] = names
      const items = days.map((one) => ({ [day]: one.day, [name]: one.name, type: 'national' }))
      expect(readHolidays(JSON.stringify(items))).toEqual(days)
    }
  })

  test('say what they change', () => {
    const text = `${tableOf([2027]).replace(/^.*20\/11\/2027.*$/m, '05/11/2027;sexta-feira;Dia extraordinário')}`
    const { added, absent } = differencesOf(readHolidays(text))
    expect(added).toEqual([{ day: '2027-11-05', name: 'Dia extraordinário' }])
    expect(absent.map(({ day }) => day)).toEqual(['2027-11-20'])
  })

  test('hold for the years that they name whole, and the laws for all others', () => {
    const extra = [...lawfulHolidays(2027), { day: '2027-11-05', name: 'Dia extraordinário' }]
    const book = createHolidayBook(extra)
    expect([book.isHoliday('2027-11-05'), book.isHoliday('2028-11-05')]).toEqual([true, false])
    expect([book.isHoliday('2027-11-20'), book.isHoliday('2028-11-20')]).toEqual([true, true])
    expect([book.ofYear(2027).isListed, book.ofYear(2028).isListed]).toEqual([true, false])
  })

  test.each([
    ['31/02/2027;quarta-feira;Nada', 'line 1: 2027-02-31 is no day'],
    ['1 de janeiro;;Nada', 'line 1: 1 de janeiro is no day as dd/mm/yyyy or YYYY-MM-DD'],
    ['01/01/2027;sexta-feira;', 'line 1: the name must have 1 to 120 characters'],
    ['01/01/2027;sexta-feira;Ano', '2027 has 1 days: it must be whole, at least 9'],
    ['Data;Feriado', 'there is no line that begins with a day'],
    ['', 'there is no line that begins with a day'],
    ['{"holidays":[]}', 'the JSON must be an array of objects with date and name'],
    ['[{"date":"amanhã","name":"x"}]', 'item 0: amanhã is no day'],
  ])('%p is refused', (text, message) => {
    expect(refusal(() => readHolidays(text))).toBe(message)
  })

  test('whose JSON breaks off are refused', () => {
    expect(refusal(() => readHolidays('[{"date":'))).toContain('JSON')
  })
})

const pix = (rows: readonly string[]): string =>
  [
    'Lista de participantes ativos do Pix',
    ' ;Nome Reduzido;ISPB;CNPJ;Tipo de Instituição;Autorizada pelo BCB;Tipo de Participação no SPI;Tipo de Participação no Pix;Modalidade de Participação no Pix',
    ...rows,
    'Lista de instituições em processo de adesão ao Pix',
    ' ;Nome Reduzido;ISPB;CNPJ;Tipo de Instituição;Autorizada pelo BCB;Tipo de Participação no SPI;Tipo de Participação no Pix;Status da adesão',
    '1;AINDA NAO IP;99999990;99.999.990/0001-00;IP;Sim;Indireta;Facultativa;Etapa Homologatória',
  ].join('\r\n')

const rowOf = (at: number): string =>
  `${at};INSTITUIÇÃO ${at};${10_000_000 + at};;Banco;Sim;${at % 2 === 0 ? 'Direta' : 'Indireta'};Obrigatória;Provedor de Conta Transacional`
const rows = Array.from({ length: participantsMin }, (_, at) => rowOf(at))

describe('participants', () => {
  test('are those of the first heading, with the zeros that spreadsheets cut', () => {
    const found = readParticipants(
      pix([...rows, '900;BCO DO BRASIL S.A.;0;;;;Direta;;PDCT', '901;SEM ISPB;;;;;;;Iniciador']),
    )
    expect(found).toHaveLength(rows.length + 1)
    expect(found[0]).toMatchObject({
      ispb: '00000000',
      name: 'BCO DO BRASIL S.A.',
      settlement: 'direct',
    })
    expect(found[2]).toMatchObject({
      ispb: '10000001',
      name: 'INSTITUIÇÃO 1',
      settlement: 'indirect',
      modality: 'Provedor de Conta Transacional',
    })
  })

  test('are read in the encoding of the central bank', () => {
    const bytes = Uint8Array.from(pix(rows), (char) => char.charCodeAt(0))
    expect(readParticipants(textOf(bytes))[1]?.name).toBe('INSTITUIÇÃO 1')
  })

  test('are read from the list of the STR, whose names may hold the separator', () => {
    const head =
      '\uFEFFISPB,Nome_Reduzido,Número_Código,Participa_da_Compe,Acesso_Principal,Nome_Extenso,Início_da_Operação'
    const list = rows.map(
      (_, at) => `${20_000_000 + at},"BCO, ${at}",${at},Sim,RSFN,"Banco, ${at}",22/04/2002`,
    )
    expect(readParticipants([head, ...list].join('\n'))[7]).toMatchObject({
      ispb: '20000007',
      name: 'BCO, 7',
      code: '007',
    })
  })

  test.each([
    ['a;b;c', 'no heading among the first lines has a column ISPB'],
    [
      pix(rows.slice(1)),
      `there are ${participantsMin - 1} participants, where at least ${participantsMin} are expected`,
    ],
    [pix(['1;X;1234567A9;;;;;;', ...rows]), 'line 3: 1234567A9 is no ISPB'],
    [pix(['1;;10000000;;;;;;', ...rows]), 'line 3: the name must have 1 to 200 characters'],
  ])('are refused where they cannot be used', (text, message) => {
    expect(refusal(() => readParticipants(text))).toBe(message)
  })

  test('are looked for in the files of a week', () => {
    // In São Paulo it is still the day before.
    const urls = participantUrls(new Date('2026-03-02T02:00:00Z'))
    expect(urls.map(({ day }) => day)).toEqual([
      ...['2026-03-01', '2026-02-28', '2026-02-27', '2026-02-26'],
      ...['2026-02-25', '2026-02-24', '2026-02-23', '2026-02-22'],
    ])
    expect(urls[0]?.url).toEndWith('-20260301.csv')
  })

  test('of the program have an ISPB each of their own', () => {
    expect(new Set(knownParticipants.map(({ ispb }) => ispb)).size).toBe(knownParticipants.length)
    for (const { ispb } of knownParticipants) expect(ispb).toMatch(/^\d{8}$/)
  })
})

test('a workbook of a spreadsheet is told as one', () => {
  for (const bytes of [
    [0xd0, 0xcf, 0x11],
    [0x50, 0x4b, 3],
  ]) {
    expect(refusal(() => textOf(Uint8Array.from(bytes)))).toContain('save its table as CSV')
  }
})
