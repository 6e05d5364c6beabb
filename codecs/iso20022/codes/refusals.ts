import { bareCodes, type CodeList, codeList, joined } from './entry.ts'
import { statusReasons } from './reasons.ts'

/** Codes that we take to mean the same as in pacs.002. */
const asInPacs002 = (codes: string, raisedBy = ''): CodeList =>
  codeList(
    codes.split(' ').map((code) => {
      const meaning = statusReasons.get(code)?.meaning
      if (meaning === undefined) throw new Error(`pacs.002 has no ${code}`)
      return [code, raisedBy, meaning.en, meaning.pt]
    }),
    'inferred',
  )

/** Codes of versions up to one. */
const untilVersion = (version: string, list: CodeList): CodeList =>
  new Map([...list].map(([code, entry]) => [code, { ...entry, until: version }]))

/** `CxlRsn/Rsn/Prtry` of pain.011: why an authorisation of Pix Automático is ended. */
export const mandateCancellationReasons = bareCodes(
  'SLDB SLCR ACCL CPCL DCSD FRUD SJUD ERSL NRES PCFD OTHS',
)

/** `RjctRsn/Prtry` of pain.012: why an authorisation of Pix Automático, or its end, is refused. */
export const mandateRefusals = joined(
  asInPacs002('AC06 CH16'),
  untilVersion('1.3', asInPacs002('AG12 DS27 RC09 RC10')),
  codeList([['MD01', '', 'There is no such authorisation', 'Autorização inexistente']], 'inferred'),
  bareCodes('AC01 AC04 AM05 MD20 SA01'),
  bareCodes(Array.from({ length: 15 }, (_, i) => `AP${String(i + 1).padStart(2, '0')}`).join(' ')),
)

/** `StsRsnInf/Rsn/Prtry` of pain.014: why a charge of Pix Automático is refused. */
export const chargeRefusals = joined(
  asInPacs002('AC06'),
  codeList(
    [
      ['AM02', '', 'The amount is over what is allowed', 'Valor acima do permitido'],
      ['AM09', '', 'The amount is not the one agreed', 'Valor diferente do acordado'],
      ...(['FCD1', 'FCD2'] as const).map(
        (code) =>
          [
            code,
            '',
            'The charge is not sent two to ten days ahead',
            'Cobrança fora do prazo de dois a dez dias de antecedência',
          ] as const,
      ),
    ],
    'inferred',
  ),
  bareCodes('AB10 AC05 CRNC DENC DTED DTNT GRER IRNT MIDI MSUC NIEC NIPA NITX QUNT UDEI'),
  untilVersion('2.3', asInPacs002('AG12 AM23 DS27 RC09 RR06')),
)

/** `StsRsn/Rsn/Prtry` of camt.025: why a reported book transfer is refused. */
export const receiptRefusals = joined(
  asInPacs002('AM01 AM18 DT02 ED05 FF08 RC09 RC10', 'S'),
  bareCodes('AG01', 'S'),
)

/** `CxlStsRsnInf/Rsn/Prtry` of camt.029: why a scheduled charge is not cancelled. */
export const cancellationRefusals = joined(
  asInPacs002('AB09 CH16 FF08'),
  untilVersion('1.1', asInPacs002('AG12 DS27 RC09 RC10')),
  bareCodes('AB10 CRNC DENC FBRD PRJL'),
)

/** `CxlRsnInf/Rsn/Prtry` of camt.055: why a scheduled charge is to be cancelled, or was. */
export const cancellationReasons = joined(
  bareCodes('SLBD SLCR ACCT BLCK OTHR', 'RP'),
  bareCodes('CCLD FAIL', 'P'),
)

/** `StsRsn/Rsn/Prtry` of reda.016: why a change of participants is refused, or has to wait. */
export const partyStatusReasons = joined(
  codeList(
    [
      [
        'DIR2',
        'S',
        'The ISPB of who asks is not that of the sender',
        'ISPB do solicitante diferente do remetente da mensagem',
      ],
      [
        'ATC7',
        'S',
        'The participant to be changed is not the sender',
        'Participante a alterar diferente do remetente da mensagem',
      ],
    ],
    'reported',
  ),
  bareCodes('CAI4 CP10 CTT9 DI11 DIR1 EXP5 IND2 IND3 IND4 IND5 ITC6 PCH8 RP13', 'S'),
)
