import { type KeptEntry, personTypeOf } from '#codecs/dict'
import { maskedTaxId } from '#codecs/taxpayer'
import { type Route, route } from '#src/platform/http/index.ts'
import { documents } from './documents.ts'
import type { DictService } from './service.ts'

export const dictRoutes = (service: DictService): readonly Route[] => [
  route(documents.lookUp, async ({ params: { key }, query: { payer }, caller }) => {
    const { entry, endToEndId, payableUntil } = await service.show({ key, payer }, caller)
    return Response.json(
      {
        ...entryView(entry),
        end_to_end_id: endToEndId,
        payable_until: payableUntil.toISOString(),
      },
      { headers: { 'Cache-Control': 'no-store' } },
    )
  }),
]

const entryView = ({ key, keyType, owner, account, ownedSince, claimedSince }: KeptEntry) => ({
  key,
  key_type: keyType,
  owner: {
    type: personTypeOf(owner.taxIdNumber) === 'LEGAL_PERSON' ? 'legal_person' : 'natural_person',
    name: owner.name,
    trade_name: owner.tradeName ?? null,
    tax_id: maskedTaxId(owner.taxIdNumber),
  },
  ispb: account.participant,
  account_type: account.accountType,
  owned_since: ownedSince,
  claimed_since: claimedSince ?? null,
})
