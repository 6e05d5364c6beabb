import { defineSettings, kind, type SettingValues, setting } from '#src/platform/config/index.ts'
import {
  type ConfiguredPin,
  keyManagementAlgorithms,
  kidCharsMax,
  signatureAlgorithms,
} from './domain.ts'
import { checkJkuEntry } from './jku.ts'

const algorithms = [
  ...signatureAlgorithms.filter((name) => !name.startsWith('ES')),
  ...keyManagementAlgorithms,
] as const

const configuredPin = kind.value(
  `\`<kid>:<algorithm>\` with ${algorithms.join(', ')}`,
  (text): ConfiguredPin => {
    const [kid = '', name, ...rest] = text.split(':')
    const algorithm = algorithms.find((candidate) => candidate === name)
    if (kid === '' || kid.length > kidCharsMax || rest.length > 0) {
      throw new Error('names no key')
    }
    if (algorithm === undefined) throw new Error('names no algorithm of RSA keys')
    return { kid, algorithm }
  },
)

const keySetAddress = kind.value(
  'https URL of a key set, or of a folder of key sets with `/` at its end',
  checkJkuEntry,
)

/** The algorithm of each key, and whose tokens are verified. */
export const joseSettings = defineSettings({
  algorithms: setting('TRILHO_JOSE_ALGORITHMS', kind.list(configuredPin), {
    doc: 'Algorithms of single RSA keys, as `<kid>:<algorithm>`; the others use RS256 and RSA-OAEP-256.',
  }),
  jkuAllowed: setting('TRILHO_JOSE_JKU_ALLOWED', kind.list(keySetAddress), {
    doc: 'Addresses that tokens may name in `jku`: a key set, or with `/` at the end all below. Their keys are trusted.',
  }),
  pinnedKeys: setting('TRILHO_JOSE_KEYS_PATH', kind.path(), {
    doc: 'File with the public keys of others (JWK set) by which tokens are verified; read again when it changes.',
  }),
})

export type JoseSettings = SettingValues<typeof joseSettings>
