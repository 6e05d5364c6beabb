import { type KeyUse, SecurityModuleError } from './types.ts'

/** Where a message of key exchange has one key, in hexadecimal digits of the field. */
type KeyPlace = {
  readonly use: KeyUse
  readonly field: number
  readonly at: number
  readonly digits: number
  readonly checkValueAt: number
  readonly checkValueDigits: number
}

export type KeyExchange = {
  /** DE 70 of the 0800 that brings keys, or asks for them. */
  readonly networkCode: string
  /** DE 70 of the 0800 by which we confirm them; undefined: the network uses them from our answer on. */
  readonly confirmationCode?: string | undefined
  /** Ask for keys before any traffic. */
  readonly asks: boolean
  readonly keys: readonly KeyPlace[]
}

/** Response codes of key exchange: done; a key that is not what it should be; the module is away. */
export const keyTaken = '00'
export const keyRefused = '63'
export const malfunction = '96'

/** What became of keys that the network sent. */
export type TakenKeys = {
  /** The response code that tells the network. */
  readonly code: string
  /** Puts them in use, after the answer that tells the network; nothing if they were refused. */
  readonly use: () => void
}

export const refusedWith = (code: string): TakenKeys => ({ code, use: () => undefined })

const hexForm = /^[0-9A-F]*$/

/** @throws SecurityModuleError `refused` */
export const partsOf = (place: KeyPlace, text: string | undefined) => {
  const digits = text?.toUpperCase() ?? ''
  const cut = (at: number, length: number): string => {
    const part = digits.slice(at, at + length)
    if (part.length === length && hexForm.test(part)) return part
    throw new SecurityModuleError('refused', 'no key where it should be')
  }
  return {
    wrapped: cut(place.at, place.digits),
    checkValue: cut(place.checkValueAt, place.checkValueDigits),
  }
}
