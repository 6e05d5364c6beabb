import type { SettingProblem } from '#src/platform/config/index.ts'
import { keyFileProblems } from '#src/platform/security/index.ts'
import type { CardSettings, NetworkSettings } from './config.ts'
import { MerchantsFileError, readMerchants } from './merchants.ts'
import {
  createRouting,
  definitionsOf,
  type NetworkDefinition,
  NetworksFileError,
} from './networks/index.ts'
import type { VaultSettings } from './vault/index.ts'

/** For a table: what a line ends with, and the next begins with, is white space. */
const inOneLine = (text: string): string =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join(' ')

export type CardConfiguration = {
  readonly cards: CardSettings
  readonly networkA: NetworkSettings
  readonly networkB: NetworkSettings
  readonly vault: VaultSettings
}

type Blamed = Pick<SettingProblem, 'name' | 'value'>

/** Problems that no single setting shows: the files, networks in conflict, and TLS files. */
export const cardProblems = (configuration: CardConfiguration): readonly SettingProblem[] => [
  ...merchantProblems(configuration.cards),
  ...networkProblems(configuration),
  ...moduleProblems(configuration.cards),
  ...keyFileProblems(configuration.vault, { name: 'CARDGW_VAULT_CERT_PATH', value: '***' }),
]

const merchantProblems = ({ merchantsFile }: CardSettings): readonly SettingProblem[] => {
  try {
    readMerchants(merchantsFile)
    return []
  } catch (error) {
    if (!(error instanceof MerchantsFileError)) throw error
    return [
      {
        name: 'CARDGW_MERCHANTS_FILE',
        value: merchantsFile ?? '',
        problem: inOneLine(error.message),
        expected: 'a JSON array of merchants',
        fix: 'correct the file',
      },
    ]
  }
}

const networkProblems = ({
  cards,
  networkA,
  networkB,
}: CardConfiguration): readonly SettingProblem[] => {
  const { networksFile } = cards
  const blamed: Blamed =
    networksFile === undefined
      ? { name: 'CARDGW_NETA_PREFIXES', value: networkA.prefixes.join(',') }
      : { name: 'CARDGW_NETWORKS_FILE', value: networksFile }
  try {
    const definitions = definitionsOf(cards, networkA, networkB)
    requireModule(cards, definitions)
    createRouting(definitions.map((network) => ({ network, prefixes: network.prefixes })))
    return definitions.flatMap(({ name, tls }) => {
      if (tls === undefined) return []
      const isOfSettings = name === 'neta' || name === 'netb'
      const setting = { name: `CARDGW_${name.toUpperCase()}_TLS_CERT_PATH`, value: '***' }
      return keyFileProblems(tls, isOfSettings ? setting : blamed)
    })
  } catch (error) {
    if (!(error instanceof Error)) throw error
    const problem = inOneLine(error.message)
    const ofMessages = messagesSetting(error, { networkA, networkB })
    if (ofMessages !== undefined) {
      const expected = 'a JSON object of what messages say'
      return [{ ...ofMessages, problem, expected, fix: 'correct the file' }]
    }
    return [
      error instanceof NetworksFileError
        ? { ...blamed, problem, expected: 'a JSON array of networks', fix: 'correct the file' }
        : {
            ...blamed,
            problem,
            expected: 'networks that share no cards',
            fix: 'give each network prefixes that no other has',
          },
    ]
  }
}

/** @throws NetworksFileError for keys that nothing could use */
const requireModule = (
  { securityModule }: CardSettings,
  definitions: readonly NetworkDefinition[],
): void => {
  const needing = definitions.find(({ security }) => security !== undefined)
  if (needing === undefined || securityModule !== undefined) return
  throw new NetworksFileError(`network ${needing.name}: its keys need CARDGW_SECURITY_MODULE`)
}

const moduleProblems = (cards: CardSettings): readonly SettingProblem[] => {
  const { moduleTlsCa: ca, moduleTlsCertificate: certificate, moduleTlsKey: key } = cards
  const ofTls = { name: 'CARDGW_SECURITY_MODULE_TLS_CERT_PATH', value: '***' }
  if (cards.securityModule !== 'payshield') return []
  if (cards.moduleAddress !== undefined) {
    return cards.moduleTls ? keyFileProblems({ ca, certificate, key }, ofTls) : []
  }
  return [
    {
      name: 'CARDGW_SECURITY_MODULE_ADDRESS',
      value: '',
      problem: 'is not set, and CARDGW_SECURITY_MODULE is payshield',
      expected: '`host:port` of the module',
      fix: 'say where the module listens',
    },
  ]
}

/** The setting that names the file which cannot be used, if it is one of the two networks of settings. */
const messagesSetting = (
  error: Error,
  { networkA, networkB }: Pick<CardConfiguration, 'networkA' | 'networkB'>,
): Blamed | undefined => {
  if (!(error instanceof NetworksFileError) || error.path === undefined) return undefined
  const value = error.path
  if (value === networkA.messagesFile) return { name: 'CARDGW_NETA_MESSAGES_FILE', value }
  return value === networkB.messagesFile ? { name: 'CARDGW_NETB_MESSAGES_FILE', value } : undefined
}
