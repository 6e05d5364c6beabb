import { describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { loadSettings } from '#src/platform/config/index.ts'
import {
  cardProblems,
  cardSettings,
  networkASettings,
  networkBSettings,
  vaultSettings,
} from '../../src/cards/index.ts'
import { issueCertificate } from '../support/pki.ts'
import { anyVariant, runProgram } from '../support/program.ts'
import { temporaryDirectory } from '../support/temporary.ts'

const directory = temporaryDirectory()
let files = 0
const written = (text: string): string => {
  const path = join(directory, `file-${files++}`)
  writeFileSync(path, text)
  return path
}

const problemsOf = (env: Readonly<Record<string, string>>) => {
  const loaded = loadSettings(
    {
      cards: cardSettings,
      networkA: networkASettings,
      networkB: networkBSettings,
      vault: vaultSettings,
    },
    env,
  )
  expect(loaded.problems).toEqual([])
  return cardProblems(loaded.values)
}

const network = { name: 'elo', brand: 'elo', host: 'elo.example', prefixes: ['6'] }
const hosts = { CARDGW_NETA_HOST: 'a.example', CARDGW_NETB_HOST: 'b.example' }

describe('the configuration of cards', () => {
  test('that is whole has no problem', () => {
    expect(problemsOf({})).toEqual([])
    const file = written(JSON.stringify([network]))
    expect(problemsOf({ ...hosts, CARDGW_NETWORKS_FILE: file })).toEqual([])
  })

  test.each([
    ['no JSON', '[', /networks file/],
    ['an unknown field', JSON.stringify([{ ...network, colour: 'red' }]), /colour/],
    ['an unknown dialect', JSON.stringify([{ ...network, dialect: 'morse' }]), /no dialect morse/],
    ['a network twice', JSON.stringify([network, network]), /same name/],
    [
      'a network like one of the settings',
      JSON.stringify([{ ...network, name: 'neta' }]),
      /same name/,
    ],
    ['cards of another network', JSON.stringify([{ ...network, prefixes: ['4'] }]), /same card/],
    [
      'a TLS file that is not there',
      JSON.stringify([{ ...network, tls: { ca_path: '/nowhere' } }]),
      /nowhere/,
    ],
  ])('names the file with %s', (_, text, problem) => {
    const file = written(text)
    const problems = problemsOf({ ...hosts, CARDGW_NETWORKS_FILE: file })
    expect(problems).toMatchObject([{ name: 'CARDGW_NETWORKS_FILE', value: file }])
    expect(problems[0]?.problem).toMatch(problem)
    expect(problems[0]?.problem).not.toContain('\n')
  })

  test('names networks that claim the same cards', () => {
    expect(problemsOf({ ...hosts, CARDGW_NETA_PREFIXES: '4,6' })).toEqual([])
    expect(problemsOf({ ...hosts, CARDGW_NETA_PREFIXES: '4,52-53' })).toMatchObject([
      { name: 'CARDGW_NETA_PREFIXES', value: '4,52-53' },
    ])
  })

  test('names certificates and keys that do not belong together', () => {
    const [one, other] = [issueCertificate('one'), issueCertificate('other')]
    const [cert, key] = [written(one.cert), written(other.key)]
    expect(
      problemsOf({
        ...hosts,
        CARDGW_NETB_TLS: 'true',
        CARDGW_NETB_TLS_CERT_PATH: cert,
        CARDGW_NETB_TLS_KEY_PATH: key,
        CARDGW_VAULT_CERT_PATH: cert,
        CARDGW_VAULT_KEY_PATH: key,
      }),
    ).toMatchObject([{ name: 'CARDGW_NETB_TLS_CERT_PATH' }, { name: 'CARDGW_VAULT_CERT_PATH' }])
  })

  test('ends serve with 78 and the table when it cannot be used', async () => {
    const env = { CARDGW_NETWORKS_FILE: written('[') }
    const { code, out, err } = await runProgram(anyVariant, ['serve'], { env })
    expect([code, out]).toEqual([78, ''])
    expect(err).toContain('CARDGW_NETWORKS_FILE')
    expect(err).toContain('HOW TO FIX')
  })
})
