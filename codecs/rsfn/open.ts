import { CodecError } from '#codecs/bytes'
import { type RsfnFailureCode, rsfnErrors } from './errors.ts'
import {
  decodeRsfnHeader,
  isZeroBlock,
  type RsfnHeader,
  rsfnAsymmetric,
  rsfnAuthorities,
  rsfnHash,
  rsfnHeaderBytes,
  rsfnProtocol,
  rsfnSymmetric,
} from './header.ts'
import { pkcs1Unpad } from './padding.ts'
import type { RsfnOpenPorts, RsfnRecipient, RsfnSender } from './ports.ts'
import {
  aesKeyBytes,
  desBlockBytes,
  gcmIvBytes,
  specialUseRules,
  tripleDesKeyBytes,
} from './seal.ts'

/** The protocol versions that a receiver accepts. It must name clear and second explicitly. */
export type RsfnPolicy = {
  readonly acceptClear?: boolean
  readonly acceptSecondVersion?: boolean
}

/** @property content - decrypted and decompressed; `decodeUtf16be` reads a message's text */
export type RsfnOpened = {
  readonly ok: true
  readonly header: RsfnHeader
  readonly content: Uint8Array
  readonly signed: boolean
  readonly encrypted: boolean
}

/**
 * @property code - the value that C03 of the answer must carry; for a report, the one that it carries itself (FF for one
 *   outside the table)
 * @property isReport - the message tells that another was refused; it is not answered
 */
export type RsfnRefused = {
  readonly ok: false
  readonly code: RsfnFailureCode
  readonly field: string
  readonly message: string
  readonly isReport: boolean
}

const serial = /^[0-9A-F]{32}$/

const refusedStatus = {
  not_active: 0x10,
  expired_or_revoked: 0x11,
  not_enabled: 0x14,
  not_the_issuer: 0x0c,
} as const satisfies Record<Exclude<RsfnSender['status'], 'active'>, RsfnFailureCode>

const refuse = (code: RsfnFailureCode): RsfnRefused => ({
  ok: false,
  code,
  field: rsfnErrors[code].field,
  message: rsfnErrors[code].meaning,
  isReport: false,
})

/** Why the octets of C03 and C05 keep us from opening the message; undefined if they are zero. */
const refuseMarked = (header: RsfnHeader): RsfnRefused | undefined => {
  if (header.error !== 0) {
    const code = (header.error in rsfnErrors ? header.error : 0xff) as RsfnFailureCode
    const message = `the message reports a refusal: ${rsfnErrors[code].meaning}`
    return { ok: false, code, field: 'C03', message, isReport: true }
  }
  if (header.reserved === 0) return undefined
  return { ...refuse(0x13), field: 'C05', message: 'the reserved field C05 is not zero' }
}

/**
 * The code of the first rule that a signed header breaks, in the order of its fields; 0 if it breaks none. It does not
 * look at keys and certificates.
 */
const checkRsfnHeader = (header: RsfnHeader, policy: RsfnPolicy = {}): RsfnFailureCode | 0 => {
  const second = header.protocol === rsfnProtocol.SECOND
  if (second ? policy.acceptSecondVersion !== true : header.protocol !== rsfnProtocol.THIRD) {
    return 0x02
  }
  const rules = specialUseRules(header.specialUse)
  if (rules === undefined || rules.encrypted === isZeroBlock(header.wrappedKey)) return 0x13
  // A broadcast that is not encrypted has no single destination, so those fields mean nothing.
  const destined = rules.encrypted
  if (destined && header.destinationKey !== rsfnAsymmetric.RSA_2048) return 0x03
  const symmetric = second ? rsfnSymmetric.TRIPLE_DES : rsfnSymmetric.AES_256
  if (destined && header.symmetric !== symmetric) return 0x04
  if (header.senderKey !== rsfnAsymmetric.RSA_2048) return 0x05
  if (header.hash !== rsfnHash.SHA_256) return 0x06
  if (destined && !(header.destinationAuthority in rsfnAuthorities)) return 0x07
  if (destined && !serial.test(header.destinationSerial)) return 0x08
  if (!(header.senderAuthority in rsfnAuthorities)) return 0x09
  if (!serial.test(header.senderSerial)) return 0x0a
  return 0
}

const decrypt = async (
  header: RsfnHeader,
  body: Uint8Array,
  recipient: RsfnRecipient,
  ports: RsfnOpenPorts,
): Promise<Uint8Array | RsfnFailureCode> => {
  const third = header.protocol === rsfnProtocol.THIRD
  if (!third && body.length % desBlockBytes !== 0) return 0x0f
  const block = await recipient.rsaDecryptBlock(header.wrappedKey)
  if (block === undefined) return 0x0d
  const length = third ? aesKeyBytes + gcmIvBytes : tripleDesKeyBytes
  const secret = pkcs1Unpad(block, length, recipient.syntheticKey(header.wrappedKey, length))
  block.fill(0)
  const plain = third
    ? ports.aesGcmOpen(secret.subarray(0, aesKeyBytes), secret.subarray(aesKeyBytes), body)
    : ports.tripleDesDecrypt(secret, body)
  secret.fill(0)
  return plain ?? 0x0e
}

const openSigned = async (
  header: RsfnHeader,
  body: Uint8Array,
  ports: RsfnOpenPorts,
  policy: RsfnPolicy,
): Promise<RsfnOpened | RsfnRefused> => {
  const broken = checkRsfnHeader(header, policy)
  if (broken !== 0) return refuse(broken)
  const rules = specialUseRules(header.specialUse)!
  const recipient = rules.encrypted ? ports.findRecipient(header) : undefined
  if (recipient === 'authority') return refuse(0x07)
  if (recipient === 'serial') return refuse(0x08)
  const sender = ports.findSender(header)
  if (sender === 'authority') return refuse(0x09)
  if (sender === 'serial') return refuse(0x0a)
  if (sender.status !== 'active') return refuse(refusedStatus[sender.status])
  const plain = recipient === undefined ? body : await decrypt(header, body, recipient, ports)
  if (typeof plain === 'number') return refuse(plain)
  if (!sender.verify(plain, header.signature)) return refuse(0x0b)
  const content = rules.compressed ? ports.gunzip(plain) : plain
  if (content === undefined) return refuse(0x13)
  return { ok: true, header, content, signed: true, encrypted: rules.encrypted }
}

/**
 * Checks, decrypts, verifies and decompresses a message, in that order. An altered message never yields content. Wrong
 * paddings and wrong bodies all give the same code 0E.
 *
 * @returns the content, or the code that C03 of the answer must carry
 * @example
 * const opened = await openRsfn(message, ports)
 * return opened.ok ? decodeUtf16be(opened.content) : withRsfnError(message, opened.code)
 * @throws only what a port throws (the caller answers with code 12)
 */
export const openRsfn = async (
  message: Uint8Array,
  ports: RsfnOpenPorts,
  policy: RsfnPolicy = {},
): Promise<RsfnOpened | RsfnRefused> => {
  let header: RsfnHeader
  try {
    header = decodeRsfnHeader(message)
  } catch (error) {
    if (error instanceof CodecError) return refuse(0x01)
    throw error
  }
  const marked = refuseMarked(header)
  if (marked !== undefined) return marked
  const body = message.subarray(rsfnHeaderBytes)
  if (header.protocol === rsfnProtocol.CLEAR) {
    if (policy.acceptClear !== true) return refuse(0x02)
    if (!isZeroBlock(header.wrappedKey) || !isZeroBlock(header.signature)) return refuse(0x13)
    return { ok: true, header, content: body, signed: false, encrypted: false }
  }
  return openSigned(header, body, ports, policy)
}
