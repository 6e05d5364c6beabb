import { decodeUtf16be, openRsfn, type RsfnFailureCode } from '#codecs/rsfn'
import { createRsfnOpenPorts, createRsfnRecipient, createRsfnSender } from './crypto.ts'
import type { RsfnKeys } from './keys.ts'

/**
 * @property content - text if the body is UTF-16BE, base64 if it is not (files)
 * @property code - what C03 of an answer would carry
 */
export type OpenedText =
  | {
      readonly ok: true
      readonly content: string
      readonly signed: boolean
      readonly encrypted: boolean
    }
  | { readonly ok: false; readonly code: RsfnFailureCode; readonly message: string }

const textOf = (bytes: Uint8Array): string => {
  try {
    return decodeUtf16be(bytes)
  } catch {
    return bytes.toBase64()
  }
}

/**
 * Opens a message of any protocol with the two keys of the settings, whatever serial numbers the
 * header names: a person reads the result; it does not decide whether we take a message.
 *
 * @throws Error when the key that is needed is not set
 */
export const openText = async (message: Uint8Array, keys: RsfnKeys): Promise<OpenedText> => {
  const needed = <T>(key: T | undefined, name: string): T => {
    if (key === undefined) throw new Error(`opening the body needs ${name}`)
    return key
  }
  const opened = await openRsfn(
    message,
    createRsfnOpenPorts({
      findSender: () => createRsfnSender(needed(keys.publicKey, 'RSFN_PUBLIC_KEY_PATH'), 'active'),
      findRecipient: () => createRsfnRecipient(needed(keys.privateKey, 'RSFN_PRIVATE_KEY_PATH')),
    }),
    { acceptClear: true, acceptSecondVersion: true },
  )
  if (!opened.ok) return { ok: false, code: opened.code, message: opened.message }
  const { content, signed, encrypted } = opened
  return { ok: true, content: textOf(content), signed, encrypted }
}
