import { CodecError } from '#codecs/bytes'
import {
  decodeRsfnHeader,
  decodeUtf16be,
  openRsfn,
  type RsfnHeader,
  type RsfnPolicy,
  type RsfnSpecialUse,
  rsfnHeaderBytes,
  sealRsfn,
} from '#codecs/rsfn'
import type { RsfnParty } from './authority.ts'
import { createRsfnOpenPorts, createRsfnRecipient, createRsfnSealPorts } from './crypto.ts'
import { RsfnFailure } from './errors.ts'
import type { RsfnKeySource, RsfnType } from './sources.ts'

/** The central bank, with which most messages are exchanged. */
export const centralBank = '00038166'

/**
 * @property content - text, which goes out as UTF-16BE, or bytes as they are
 * @property recipientIspb - whose certificate of the store is taken
 * @property sender - names our certificate where the source of keys does not
 */
type SealRequest = {
  readonly content: string | Uint8Array
  readonly type: RsfnType
  readonly specialUse: RsfnSpecialUse
  readonly recipientIspb: string
  readonly sender?: RsfnParty | undefined
  readonly recipient?: RsfnParty | undefined
}

type Sealed = {
  readonly message: Uint8Array
  readonly sender: RsfnParty
  readonly recipient: RsfnParty
}

/** @property contentEncoding - `utf8` for a body that is UTF-16BE text, `base64` for any other */
export type OpenedMessage =
  | {
      readonly ok: true
      readonly content: string
      readonly contentEncoding: 'utf8' | 'base64'
      readonly signed: boolean
      readonly encrypted: boolean
      readonly specialUse: number
      readonly sender: RsfnParty | undefined
      readonly recipient: RsfnParty | undefined
    }
  | {
      readonly ok: false
      /** Hexadecimal, two digits, as the manual writes them. */
      readonly code: string
      readonly field: string
      readonly message: string
      /** The message itself reports the code; it is not to be answered. */
      readonly isReport: boolean
    }

export type RsfnService = {
  /** @throws RsfnFailure */
  readonly seal: (request: SealRequest) => Promise<Sealed>
  /** @throws RsfnFailure for a key that is not there */
  readonly open: (message: Uint8Array, policy?: RsfnPolicy) => Promise<OpenedMessage>
}

const named = (party: RsfnParty | undefined, who: string): RsfnParty => {
  if (party !== undefined) return party
  throw new RsfnFailure('party_unknown', `authority and serial of the ${who} are needed`)
}

/** The serial as authorities print it: capital letters, no zeros in front. */
const trimmed = ({ authority, serial }: RsfnParty): RsfnParty => ({
  authority,
  serial: serial.toUpperCase().replace(/^0+(?=.)/, ''),
})

const hex = (code: number): string => code.toString(16).toUpperCase().padStart(2, '0')

/** Text where the body is UTF-16BE without control characters that no message has. */
const shown = (bytes: Uint8Array): [string, 'utf8' | 'base64'] => {
  try {
    return [decodeUtf16be(bytes), 'utf8']
  } catch {
    return [bytes.toBase64(), 'base64']
  }
}

/** The header, to look for keys; undefined where the codec will say what is wrong with it. */
const headerOf = (message: Uint8Array): RsfnHeader | undefined => {
  try {
    return decodeRsfnHeader(message)
  } catch (error) {
    if (error instanceof CodecError) return undefined
    throw error
  }
}

/** Seals for the network and opens what comes from it. */
export const createRsfnService = (keys: RsfnKeySource, contentBytesMax?: number): RsfnService => ({
  seal: async (request) => {
    const { content, type, specialUse, recipientIspb } = request
    const own = await keys.own(type)
    const peer = await keys.peer(recipientIspb, type)
    const sender = named(request.sender ?? own.party, 'sender')
    const recipient = named(request.recipient ?? peer.party, 'recipient')
    const message = await sealRsfn(
      { content, sender, destination: recipient, specialUse },
      createRsfnSealPorts(own.key, peer.key),
    )
    return { message, sender: trimmed(sender), recipient: trimmed(recipient) }
  },

  open: async (message, policy = {}) => {
    const header = headerOf(message)
    const isSecured = header !== undefined && header.protocol !== 0 && header.error === 0
    const isSealed = isSecured && header.wrappedKey.some((octet) => octet !== 0)
    const sender = isSecured ? await keys.sender(header) : 'serial'
    const recipient = isSealed ? await keys.recipient(header) : 'serial'
    const ports = createRsfnOpenPorts(
      {
        findSender: () => sender,
        findRecipient: () =>
          typeof recipient === 'string' ? recipient : createRsfnRecipient(recipient),
      },
      contentBytesMax,
    )
    const opened = await openRsfn(message, ports, policy)
    if (!opened.ok) {
      const { code, field, message, isReport } = opened
      return { ok: false, code: hex(code), field, message, isReport }
    }
    const [content, contentEncoding] = shown(opened.content)
    const { signed, encrypted, header: read } = opened
    return {
      ok: true,
      content,
      contentEncoding,
      signed,
      encrypted,
      specialUse: read.specialUse,
      sender: signed
        ? trimmed({ authority: read.senderAuthority, serial: read.senderSerial })
        : undefined,
      recipient: encrypted
        ? trimmed({ authority: read.destinationAuthority, serial: read.destinationSerial })
        : undefined,
    }
  },
})

/** Largest message to take: header and body. */
export const rsfnMessageBytesMax = rsfnHeaderBytes + 1024 * 1024
