import { defineErrors } from '#src/platform/http/index.ts'

/** Errors of sealing and opening, besides those that every feature shares. */
export const rsfnApiErrors = defineErrors({
  rsfn_key_missing: {
    status: 422,
    title: 'Key missing',
    meaning: 'A key that the operation needs is not there; detail says which.',
    remedy:
      'Import the certificate of type SPB or MES (of others without its key), or set RSFN_PRIVATE_KEY_PATH and RSFN_PUBLIC_KEY_PATH.',
  },
  rsfn_party_unknown: {
    status: 422,
    title: 'Certificate not named',
    meaning:
      'The header names certificates by authority and serial number, and one is not known: keys from files have none, or its authority is not of the network.',
    remedy: 'Send authority and serial of sender and recipient.',
  },
  rsfn_refused: {
    status: 422,
    title: 'Message refused',
    meaning:
      'The message breaks a rule of the security header; rsfn_code is what C03 of the answer must carry, or what C03 of the message itself reports.',
    remedy: 'Answer the sender with that code; a message that itself reports one is not answered.',
  },
})

/** Thrown by the service; routes and command turn it into an answer. */
export class RsfnFailure extends Error {
  override readonly name = 'RsfnFailure'
  readonly reason: 'key_missing' | 'party_unknown'

  constructor(reason: RsfnFailure['reason'], message: string) {
    super(message)
    this.reason = reason
  }
}
