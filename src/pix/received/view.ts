import { formatCents } from '#codecs/iso20022'
import type { Pix, PixReturn } from './domain.ts'

export const returnView = (one: PixReturn) => ({
  id: one.id,
  rtrId: one.returnId,
  valor: formatCents(one.amountCents),
  natureza: one.nature,
  ...(one.description === null ? {} : { descricao: one.description }),
  horario: {
    solicitacao: one.requestedAt.toISOString(),
    ...(one.settledAt === null ? {} : { liquidacao: one.settledAt.toISOString() }),
  },
  status: one.status,
  ...(one.reason === null ? {} : { motivo: one.reason }),
})

/** Nothing of the payer is in it. */
export const pixView = (pix: Pix) => {
  const valor = formatCents(pix.amountCents)
  return {
    endToEndId: pix.endToEndId,
    ...(pix.txid === null ? {} : { txid: pix.txid }),
    valor,
    componentesValor:
      pix.components === null ? { original: { valor } } : JSON.parse(pix.components),
    ...(pix.key === null ? {} : { chave: pix.key }),
    horario: pix.settledAt.toISOString(),
    ...(pix.info === null ? {} : { infoPagador: pix.info }),
    ...(pix.returns.length === 0 ? {} : { devolucoes: pix.returns.map(returnView) }),
  }
}
