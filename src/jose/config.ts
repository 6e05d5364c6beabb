import {
  defineSettings,
  type Kind,
  list,
  type SettingValues,
  setting,
} from '#src/platform/config/index.ts'
import {
  type ConfiguredPin,
  keyManagementAlgorithms,
  kidCharsMax,
  signatureAlgorithms,
} from './domain.ts'

const algorithms = [
  ...signatureAlgorithms.filter((name) => !name.startsWith('ES')),
  ...keyManagementAlgorithms,
] as const

const configuredPin = (): Kind<ConfiguredPin> => ({
  expected: `\`<kid>:<algorithm>\` with ${algorithms.join(', ')}`,
  from: 'value',
  mask: (text) => text,
  parse: (text) => {
    const [kid = '', name, ...rest] = text.split(':')
    const algorithm = algorithms.find((candidate) => candidate === name)
    if (kid === '' || kid.length > kidCharsMax || rest.length > 0) {
      throw new Error('names no key')
    }
    if (algorithm === undefined) throw new Error('names no algorithm of RSA keys')
    return { kid, algorithm }
  },
})

/** The algorithm of each key. */
export const joseSettings = defineSettings({
  algorithms: setting('TRILHO_JOSE_ALGORITHMS', list(configuredPin()), {
    doc: 'Algorithms of single RSA keys, as `<kid>:<algorithm>`; the others use RS256 and RSA-OAEP-256.',
  }),
})

export type JoseSettings = SettingValues<typeof joseSettings>
