/** Writes, signs and delivers the bank's messages. */
import { createPrivateKey, hash, randomUUID, X509Certificate } from 'node:crypto'
import { type CanonicalEnvelope, issuerText, prepareKeyInfo, signEnvelope } from '#codecs/xmldsig'
import { describeCertificate, openRsaKey } from '#src/platform/security/index.ts'
import { steadyClock } from '../steady-clock.ts'
import type { Identifiers } from './identifiers.ts'
import { Mailbox, type MailboxFaults, type Waiting } from './mailbox.ts'
import { type Channel, isVirtual, type ResolvedOptions } from './options.ts'
import { type Draft, writeMessage } from './write.ts'

/** The parts of a received message that the bank keeps, to answer it and its repetitions. */
export type Origin = {
  readonly from: string
  readonly channel: Channel
  /** Hash of its bytes, by which the bank recognises the same message. */
  readonly hash: bigint | number
  /** The answers so far; a repetition gets the same ones. Undefined once the message is forgotten. */
  answers: Uint8Array[] | undefined
}

/** True if the bank takes nothing more for that participant (on the primary channel by default), or at all. */
export type IsFull = (ispb?: string, channel?: Channel) => boolean

export type PostOffice = {
  readonly mailbox: (ispb: string, channel: Channel) => Mailbox
  /** @param origins messages that this answers */
  readonly send: (to: string, channel: Channel, draft: Draft, origins?: readonly Origin[]) => void
  /** Gives a repeated message its answers again. */
  readonly repeat: (origin: Origin) => void
  /** Whether that participant ever read there. */
  readonly isRead: (ispb: string, channel: Channel) => boolean
  /** Whether a message sent there now would wait behind too many. */
  readonly isFull: (ispb: string, channel: Channel) => boolean
  /** Drops mail that nobody reads, where most of it waits. @returns whether there was any */
  readonly makeRoom: () => boolean
  readonly mailboxes: () => ReadonlyMap<string, Mailbox>
  readonly sent: () => number
  /** Messages that wait in all mailboxes, or to be signed for them. */
  readonly waiting: () => number
  /** Ends all reads that wait, and frees what signs. */
  readonly stop: () => Promise<void>
}

const sha256 = (bytes: Uint8Array): Uint8Array => hash('sha256', bytes, 'buffer')

type Sealer = {
  readonly seal: (envelope: CanonicalEnvelope) => Promise<Uint8Array>
  readonly stop: () => Promise<void>
}

const createSealer = (signing: { readonly certificate: string; readonly key: string }): Sealer => {
  const certificate = new X509Certificate(signing.certificate)
  const pkcs8 = createPrivateKey(signing.key).export({ format: 'der', type: 'pkcs8' })
  const opened = openRsaKey(new Uint8Array(pkcs8))
  const keyInfo = prepareKeyInfo(
    issuerText(new Uint8Array(certificate.raw)),
    describeCertificate(certificate).serial,
    `key-${randomUUID()}`,
    sha256,
  )
  return {
    seal: async (envelope) => signEnvelope(envelope, keyInfo, sha256, (await opened).sign),
    stop: async () => (await opened).close(),
  }
}

export const createPostOffice = (
  { revision, longPollMs, now, signing, limits }: ResolvedOptions,
  ids: Identifiers,
  faults: (channel: Channel) => MailboxFaults,
): PostOffice => {
  const mailboxes = new Map<string, Mailbox>()
  const total: Waiting = { count: 0 }
  const elapsed = steadyClock(now)
  const sealer = signing === undefined ? undefined : createSealer(signing)
  let sent = 0
  let sealing = 0

  const mailbox = (ispb: string, channel: Channel): Mailbox => {
    const key = `${ispb} ${channel}`
    const known = mailboxes.get(key)
    if (known !== undefined) return known
    const created = new Mailbox({
      total,
      messagesMax: limits.mailboxMessagesMax,
      longPollMs,
      elapsed,
      faults: faults(channel),
    })
    mailboxes.set(key, created)
    return created
  }

  const deliver = (
    to: string,
    channel: Channel,
    bytes: Uint8Array,
    origins: readonly Origin[],
  ): void => {
    sent++
    for (const origin of origins) if (origin.from === to) origin.answers?.push(bytes)
    mailbox(to, channel).put({ resourceId: ids.resourceId(), bytes })
  }

  return {
    mailbox,
    send: (to, channel, draft, origins = []) => {
      if (isVirtual(to)) return
      const header = { id: ids.messageId(), created: new Date(now()).toISOString() }
      const envelope = writeMessage(draft, to, header, revision)
      if (sealer === undefined) {
        deliver(to, channel, envelope.bytes, origins)
        return
      }
      sealing++
      void sealer.seal(envelope).then((bytes) => {
        sealing--
        deliver(to, channel, bytes, origins)
      })
    },
    repeat: (origin) => {
      for (const bytes of origin.answers ?? []) deliver(origin.from, origin.channel, bytes, [])
    },
    isRead: (ispb, channel) => mailboxes.get(`${ispb} ${channel}`)?.isRead ?? false,
    isFull: (ispb, channel) => mailboxes.get(`${ispb} ${channel}`)?.isFull() ?? false,
    makeRoom: () => {
      let fullest: Mailbox | undefined
      for (const box of mailboxes.values()) {
        if (box.streams() === 0 && box.waiting() > (fullest?.waiting() ?? 0)) fullest = box
      }
      fullest?.makeRoom()
      return fullest !== undefined
    },
    mailboxes: () => mailboxes,
    sent: () => sent,
    waiting: () => total.count + sealing,
    stop: async () => {
      for (const box of mailboxes.values()) box.stop()
      await sealer?.stop()
    },
  }
}
