import { buildDynamicBrCode, toAscii } from '#codecs/brcode'
import { formatCents } from '#codecs/iso20022'
import { dueValuesView, receiverView } from '../due/view.ts'
import type { Location } from '../locations/domain.ts'
import type { Payee } from '../receivers/domain.ts'
import type { Charge, ChargeTerms } from './domain.ts'
import { withdrawalView } from './withdrawal.ts'

/** Where locations are, and so how they are spelt. */
export type Addresses = {
  /** Without a scheme, as QR codes hold it. */
  readonly of: (location: Pick<Location, 'token' | 'kind'>) => string
}

export const payloadPath = '/qr/v2'

export const addressesOn = (host: string): Addresses => ({
  of: ({ token, kind }) => `${host}${payloadPath}/${kind === 'cobv' ? 'cobv/' : ''}${token}`,
})

export const locationView = (location: Location, addresses: Addresses) => ({
  id: Number(location.id),
  ...(location.txid === null ? {} : { txid: location.txid }),
  location: addresses.of(location),
  tipoCob: location.kind,
  criacao: location.createdAt.toISOString(),
})

/** `valor` of a charge, as it was asked for. */
const valuesView = ({ originalCents, isOpen, withdrawal, due }: ChargeTerms) =>
  due === undefined
    ? {
        original: formatCents(originalCents),
        modalidadeAlteracao: isOpen ? 1 : 0,
        ...(withdrawal === undefined ? {} : { retirada: withdrawalView(withdrawal) }),
      }
    : dueValuesView(originalCents, due)

/** What a charge says in answers; and in payloads, which tell less of the debtor. */
export const termsView = ({ terms }: Pick<Charge, 'terms'>) => ({
  ...(terms.debtor === undefined ? {} : { devedor: terms.debtor }),
  valor: valuesView(terms),
  chave: terms.key,
  ...(terms.question === undefined ? {} : { solicitacaoPagador: terms.question }),
  ...(terms.infos === undefined ? {} : { infoAdicionais: terms.infos }),
})

const merchantNameMax = 25
const merchantCityMax = 15

/** As much of a receiver as a QR code holds. */
export const merchantOf = ({ name, city }: Pick<Payee, 'name' | 'city'>) => ({
  merchantName: toAscii(name).trim().slice(0, merchantNameMax).trim(),
  merchantCity: toAscii(city).trim().slice(0, merchantCityMax).trim(),
})

export const calendarView = (createdAt: Date, { due, expiresSeconds }: ChargeTerms) => ({
  criacao: createdAt.toISOString(),
  ...(due === undefined
    ? { expiracao: expiresSeconds }
    : { dataDeVencimento: due.dueOn, validadeAposVencimento: due.validDays }),
})

export type ShownCharge = {
  readonly charge: Charge
  readonly location: Location | undefined
  /** Undefined once the key is nobody's any more. */
  readonly receiver: Payee | undefined
}

export const chargeView = ({ charge, location, receiver }: ShownCharge, addresses: Addresses) => {
  const { txid, revision, status, createdAt, terms } = charge
  const address = location && addresses.of(location)
  return {
    calendario: calendarView(createdAt, terms),
    txid,
    revisao: revision,
    status,
    loc: location && locationView({ ...location, txid }, addresses),
    location: address,
    ...termsView(charge),
    recebedor: terms.due && receiver && receiverView(receiver),
    pixCopiaECola:
      address && receiver && buildDynamicBrCode({ url: address, ...merchantOf(receiver) }),
  }
}
