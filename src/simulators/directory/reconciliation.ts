/** Operations by which a participant finds where its keys and the directory's differ. */

import { type Element, entryElement, keyTypes, readKeyType, textAt } from '#codecs/dict'
import { ispbForm } from '#codecs/taxpayer'
import type { CidEvent } from './cid-sets.ts'
import {
  askerOf,
  goesOn,
  knownUntilMs,
  limitOf,
  listedMax,
  type Offered,
  type Operation,
  readRequest,
} from './operation.ts'
import { Refusal } from './refusal.ts'

/** A list does not know yet what happened within this time. */
const listLagMs = 5_000
const momentForm = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)$/
const microDigits = 6

const verifySync: Operation = (asked, _, deps) => {
  const name = 'CreateSyncVerificationRequest'
  const at = 'SyncVerification/Participant'
  const request = readRequest(asked, deps, name, 'SYNC_VERIFICATIONS_WRITE', at)
  const { document, root, participant } = request
  const type = readKeyType(document, root, 'SyncVerification/KeyType')
  const theirs = textAt(document, root, 'SyncVerification/ParticipantSyncVerifier') ?? ''
  const result = theirs.toLowerCase() === deps.book.setOf(participant, type).hex() ? 'OK' : 'NOK'
  const elements: readonly Element[] = [
    ['Id', String(Date.now())],
    ['Participant', participant],
    ['KeyType', type],
    ['ParticipantSyncVerifier', theirs],
    ['Result', result],
  ]
  const verification: Element = ['SyncVerification', elements]
  return { status: 201, name: 'CreateSyncVerificationResponse', elements: [verification] }
}

const getEntryByCid: Operation = (asked, [cid = ''], deps) => {
  const participant = askerOf(asked, deps, 'CIDS_ENTRIES_READ')
  const kept = deps.book.findByCid(cid.toLowerCase())
  if (kept?.entry.account.participant !== participant) throw new Refusal('NotFound')
  const elements: readonly Element[] = [
    ['Cid', kept.cid],
    entryElement(kept.entry),
    ['RequestId', kept.requestId],
  ]
  return { status: 200, name: 'GetEntryByCidResponse', elements }
}

const createCidFile: Operation = (asked, _, deps) => {
  const name = 'CreateCidSetFileRequest'
  const { document, root, participant } = readRequest(asked, deps, name, 'CIDS_FILES_WRITE')
  const file = deps.files.request(participant, readKeyType(document, root, 'KeyType'))
  const elements = [deps.files.elementOf(file, asked.origin)]
  return { status: 201, name: 'CreateCidSetFileResponse', elements }
}

const getCidFile: Operation = (asked, [id = ''], deps) => {
  const file = deps.files.find(Number(id), askerOf(asked, deps, 'CIDS_FILES_READ'))
  if (file === undefined) throw new Refusal('NotFound')
  const elements = [deps.files.elementOf(file, asked.origin)]
  return { status: 200, name: 'GetCidSetFileResponse', elements }
}

/** Microseconds since the epoch. @throws Refusal */
const microsOf = (text: string): number => {
  const [matched, seconds, fraction = '', zone] = momentForm.exec(text) ?? []
  const ms = Date.parse(`${seconds}${zone}`)
  if (matched === undefined || Number.isNaN(ms)) throw new Refusal('BadRequest', 'no moment')
  return ms * 1_000 + Number(fraction.padEnd(microDigits, '0').slice(0, microDigits))
}

const momentOf = (us: number): string => {
  const toMs = new Date(Math.floor(us / 1_000)).toISOString().slice(0, -1)
  return `${toMs}${String(us % 1_000).padStart(3, '0')}Z`
}

const eventElement = ({ isAdded, cid, atUs }: CidEvent): Element => [
  'CidSetEvent',
  [
    ['Type', isAdded ? 'ADDED' : 'REMOVED'],
    ['Cid', cid],
    ['Timestamp', momentOf(atUs)],
  ],
]

const listCidEvents: Operation = ({ query }, _, deps) => {
  const { book, policies, now } = deps
  const participant = query.get('Participant') ?? ''
  const type = keyTypes.find((name) => name === query.get('KeyType'))
  if (!ispbForm.test(participant) || type === undefined) throw new Refusal('BadRequest')
  const lastUs = Math.min(now() - listLagMs, knownUntilMs(deps, 'lookup')) * 1_000
  const fromUs = microsOf(query.get('StartTime') ?? momentOf(0))
  const untilUs = Math.min(microsOf(query.get('EndTime') ?? momentOf(lastUs)), lastUs)
  const limit = limitOf(query.get('Limit'), listedMax)
  policies.take('CIDS_EVENTS_LIST', participant)
  const { events, hasMore, start, end } = book.setOf(participant, type).list(fromUs, untilUs, limit)
  const elements: readonly Element[] = [
    ['HasMoreElements', String(goesOn(deps, 'lookup') || hasMore)],
    ['Participant', participant],
    ['KeyType', type],
    ['StartTime', momentOf(events[0]?.atUs ?? fromUs)],
    ['EndTime', momentOf(events.at(-1)?.atUs ?? untilUs)],
    ['SyncVerifierStart', start],
    ['SyncVerifierEnd', end],
    ['CidSetEvents', events.map(eventElement)],
  ]
  return { status: 200, name: 'ListCidSetEventsResponse', elements }
}

export const reconciliation: readonly Offered[] = [
  ['POST', /^\/sync-verifications\/$/, verifySync],
  ['GET', /^\/cids\/entries\/([0-9A-Fa-f]{64})$/, getEntryByCid],
  ['POST', /^\/cids\/files\/$/, createCidFile],
  ['GET', /^\/cids\/files\/(\d{1,15})$/, getCidFile],
  ['GET', /^\/cids\/events$/, listCidEvents],
]
