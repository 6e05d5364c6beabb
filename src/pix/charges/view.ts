import { buildDynamicBrCode, toAscii } from '#codecs/brcode'
import type { Location } from '../locations/domain.ts'
import { amountOf } from '../money.ts'
import type { Receiver } from '../receivers/domain.ts'
import type { Charge } from './domain.ts'

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

/** What a charge says, in answers and in payloads. */
export const termsView = ({ terms }: Charge) => ({
  ...(terms.debtor === undefined ? {} : { devedor: terms.debtor }),
  valor: {
    original: amountOf(terms.originalCents),
    modalidadeAlteracao: terms.isOpen ? 1 : 0,
  },
  chave: terms.key,
  ...(terms.question === undefined ? {} : { solicitacaoPagador: terms.question }),
  ...(terms.infos === undefined ? {} : { infoAdicionais: terms.infos }),
})

const merchantNameMax = 25
const merchantCityMax = 15

/** The text of the QR code. */
const codeOf = (url: string, { name, city }: Pick<Receiver, 'name' | 'city'>): string =>
  buildDynamicBrCode({
    url,
    merchantName: toAscii(name).slice(0, merchantNameMax).trim(),
    merchantCity: toAscii(city).slice(0, merchantCityMax).trim(),
  })

export type ShownCharge = {
  readonly charge: Charge
  readonly location: Location | undefined
  /** Undefined once the key is nobody's any more. */
  readonly receiver: Receiver | undefined
}

export const chargeView = ({ charge, location, receiver }: ShownCharge, addresses: Addresses) => {
  const { txid, revision, status, createdAt, terms } = charge
  const address = location && addresses.of(location)
  return {
    calendario: { criacao: createdAt.toISOString(), expiracao: terms.expiresSeconds },
    ...{ txid, revisao: revision, status },
    ...(location === undefined
      ? {}
      : { loc: locationView({ ...location, txid }, addresses), location: address }),
    ...termsView(charge),
    ...(address === undefined || receiver === undefined
      ? {}
      : { pixCopiaECola: codeOf(address, receiver) }),
  }
}
