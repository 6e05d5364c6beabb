/** The operations of the DICT API that the simulator has. */

import { pixKeyKind } from '#codecs/brcode'
import { CodecError } from '#codecs/bytes'
import { entryElement, nodeAt, readAccount, readEntryRequest, readPerson } from '#codecs/dict'
import { ispbForm, taxIdForm } from '#codecs/taxpayer'
import { claimOperations } from './claims-interface.ts'
import { disputes } from './disputes.ts'
import {
  type Asked,
  type Deps,
  type Done,
  type Offered,
  type Operation,
  readRequest,
} from './operation.ts'
import { reconciliation } from './reconciliation.ts'
import { Refusal } from './refusal.ts'

const endToEndForm = /^E[0-9A-Z]{8}\d{12}[0-9A-Za-z]{11}$/

const getEntry: Operation = ({ header }, [key = ''], deps) => {
  const { book, policies } = deps
  const participant = header('PI-RequestingParticipant')
  const payer = header('PI-PayerId')
  const endToEndId = header('PI-EndToEndId')
  if (!ispbForm.test(participant) || !taxIdForm.test(payer) || !endToEndForm.test(endToEndId)) {
    throw new Refusal('BadRequest', 'A header is missing or malformed')
  }
  const kind = pixKeyKind(key)?.toUpperCase()
  if (kind === undefined) throw new Refusal('BadRequest', 'Key is malformed')
  policies.beforeLookup(participant, payer, kind)
  const kept = book.find(key)
  policies.afterLookup(participant, payer, kind, kept !== undefined)
  if (kept === undefined) {
    throw new Refusal('NotFound', 'Entry associated with given key does not exist')
  }
  if (kept.entry.account.participant === participant) {
    throw new Refusal('EntryCannotBeQueriedForBookTransfer')
  }
  deps.onLookup(endToEndId, { participant, payer, kind })
  return {
    status: 200,
    name: 'GetEntryResponse',
    elements: [entryElement(kept.entry)],
    headers: { 'Cache-Control': `private, max-age=${deps.cacheSeconds}` },
  }
}

const createEntry: Operation = (asked, _, deps) => {
  const at = 'Entry/Account/Participant'
  const request = readRequest(asked, deps, 'CreateEntryRequest', 'ENTRIES_WRITE', at)
  const { document, root, textOf } = request
  const wanted = readEntryRequest(document, root)
  const { entry } = deps.book.create(wanted, textOf('Reason'), textOf('RequestId'))
  return { status: 201, name: 'CreateEntryResponse', elements: [entryElement(entry)] }
}

const updateEntry: Operation = (asked, [key = ''], deps) => {
  const at = 'Account/Participant'
  const request = readRequest(asked, deps, 'UpdateEntryRequest', 'ENTRIES_UPDATE', at)
  const { document, root, textOf, requireSame } = request
  requireSame('Key', key)
  const hasOwner = nodeAt(document, root, 'Owner') !== undefined
  const owner = hasOwner ? readPerson(document, root, 'Owner') : ownerOf(key, deps)
  const change = { ...readAccount(document, root, 'Account'), owner }
  const { entry } = deps.book.update(key, change, textOf('Reason'))
  return { status: 200, name: 'UpdateEntryResponse', elements: [entryElement(entry)] }
}

const ownerOf = (key: string, { book }: Deps) => {
  const kept = book.find(key)
  if (kept === undefined) throw new Refusal('NotFound')
  return kept.entry.owner
}

const deleteEntry: Operation = (asked, [key = ''], deps) => {
  const request = readRequest(asked, deps, 'DeleteEntryRequest', 'ENTRIES_WRITE')
  request.requireSame('Key', key)
  deps.book.remove(key, request.participant, request.textOf('Reason'))
  return { status: 200, name: 'DeleteEntryResponse', elements: [['Key', key]] }
}

const operations: readonly Offered[] = [
  ['GET', /^\/entries\/([^/]+)$/, getEntry],
  ['POST', /^\/entries\/$/, createEntry],
  ['PUT', /^\/entries\/([^/]+)$/, updateEntry],
  ['POST', /^\/entries\/([^/]+)\/delete$/, deleteEntry],
  ...reconciliation,
  ...disputes,
  ...claimOperations,
]

/** @throws Refusal */
export const operate = (asked: Asked, deps: Deps): Done => {
  for (const [method, form, operation] of operations) {
    const [matched, ...params] = form.exec(asked.path) ?? []
    if (matched === undefined || method !== asked.method) continue
    try {
      return operation(asked, params.map(decodeURIComponent), deps)
    } catch (error) {
      if (!(error instanceof CodecError || error instanceof URIError)) throw error
      throw new Refusal('BadRequest', error.message)
    }
  }
  throw new Refusal('NotFound', 'No such resource')
}
