import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto'
import type { Pem, SettingProblem } from '#src/platform/config/index.ts'
import type { SpiSettings } from '../../config.ts'

/** Both sides of the network's security: our key opens and signs, the central bank's key verifies and seals. */
export type RsfnKeys = {
  readonly privateKey: KeyObject | undefined
  readonly publicKey: KeyObject | undefined
}

/** C06 and C08 know RSA-1024 too, which the network no longer takes. */
export const rsfnBits = 2048

type KeySettings = Pick<SpiSettings, 'rsfnPrivateKey' | 'rsfnPublicKey'>

type Read = KeyObject | string | undefined

/** The key, or the problem with it. */
const read = (pem: Pem | undefined, create: (text: string) => KeyObject): Read => {
  if (pem === undefined) return undefined
  try {
    const key = create(pem.text)
    const fits =
      key.asymmetricKeyType === 'rsa' && key.asymmetricKeyDetails?.modulusLength === rsfnBits
    return fits ? key : `is not RSA-${rsfnBits}`
  } catch {
    return 'cannot be read'
  }
}

const readBoth = ({ rsfnPrivateKey, rsfnPublicKey }: KeySettings) => ({
  RSFN_PRIVATE_KEY_PATH: read(rsfnPrivateKey, createPrivateKey),
  RSFN_PUBLIC_KEY_PATH: read(rsfnPublicKey, createPublicKey),
})

/** Returns the problems of the keys that are set. */
export const rsfnProblems = (settings: KeySettings): readonly SettingProblem[] =>
  Object.entries(readBoth(settings)).flatMap(([name, key]) =>
    typeof key === 'string'
      ? [
          {
            name,
            value: '***',
            problem: key,
            expected: `an RSA-${rsfnBits} key in PEM`,
            fix: `set ${name} to the key of the network, or leave it out`,
          },
        ]
      : [],
  )

/** Returns the keys that are set and fit; {@link rsfnProblems} reports the others. */
export const rsfnKeysOf = (settings: KeySettings): RsfnKeys => {
  const keyOf = (key: Read) => (typeof key === 'string' ? undefined : key)
  const both = readBoth(settings)
  return {
    privateKey: keyOf(both.RSFN_PRIVATE_KEY_PATH),
    publicKey: keyOf(both.RSFN_PUBLIC_KEY_PATH),
  }
}
