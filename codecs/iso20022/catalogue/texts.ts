import accounts from './xsd/accounts.xsd' with { type: 'text' }
import admi002 from './xsd/admi.002.xsd' with { type: 'text' }
import admi004 from './xsd/admi.004.xsd' with { type: 'text' }
import camt014 from './xsd/camt.014.xsd' with { type: 'text' }
import camt025 from './xsd/camt.025.xsd' with { type: 'text' }
import camt029 from './xsd/camt.029.xsd' with { type: 'text' }
import camt052 from './xsd/camt.052.xsd' with { type: 'text' }
import camt053 from './xsd/camt.053.xsd' with { type: 'text' }
import camt054 from './xsd/camt.054.xsd' with { type: 'text' }
import camt055 from './xsd/camt.055.xsd' with { type: 'text' }
import camt060 from './xsd/camt.060.xsd' with { type: 'text' }
import common from './xsd/common.xsd' with { type: 'text' }
import pacs002_1_14 from './xsd/pacs.002.1.14.xsd' with { type: 'text' }
import pacs002_1_16 from './xsd/pacs.002.1.16.xsd' with { type: 'text' }
import pacs002_1_17 from './xsd/pacs.002.1.17.xsd' with { type: 'text' }
import pacs002 from './xsd/pacs.002.xsd' with { type: 'text' }
import pacs004 from './xsd/pacs.004.xsd' with { type: 'text' }
import pacs008_1_13 from './xsd/pacs.008.1.13.xsd' with { type: 'text' }
import pacs008_1_15 from './xsd/pacs.008.1.15.xsd' with { type: 'text' }
import pacs008_1_16 from './xsd/pacs.008.1.16.xsd' with { type: 'text' }
import pacs008 from './xsd/pacs.008.xsd' with { type: 'text' }
import pain009 from './xsd/pain.009.xsd' with { type: 'text' }
import pain011 from './xsd/pain.011.xsd' with { type: 'text' }
import pain012 from './xsd/pain.012.xsd' with { type: 'text' }
import pain013 from './xsd/pain.013.xsd' with { type: 'text' }
import pain014_2_3 from './xsd/pain.014.2.3.xsd' with { type: 'text' }
import pain014_2_4 from './xsd/pain.014.2.4.xsd' with { type: 'text' }
import pain014 from './xsd/pain.014.xsd' with { type: 'text' }
import pibr001 from './xsd/pibr.001.xsd' with { type: 'text' }
import pibr002 from './xsd/pibr.002.xsd' with { type: 'text' }
import reda014 from './xsd/reda.014.xsd' with { type: 'text' }
import reda016 from './xsd/reda.016.xsd' with { type: 'text' }
import reda017 from './xsd/reda.017.xsd' with { type: 'text' }
import reda022 from './xsd/reda.022.xsd' with { type: 'text' }
import reda031 from './xsd/reda.031.xsd' with { type: 'text' }
import reda041 from './xsd/reda.041.xsd' with { type: 'text' }
import trck002 from './xsd/trck.002.xsd' with { type: 'text' }
import xmldsig from './xsd/xmldsig.xsd' with { type: 'text' }

/** The text of every schema document of ours, by file name: part of the program, so it needs no file at run time. */
export const schemaTexts: ReadonlyMap<string, string> = new Map(
  Object.entries({
    'accounts.xsd': accounts,
    'admi.002.xsd': admi002,
    'admi.004.xsd': admi004,
    'camt.014.xsd': camt014,
    'camt.025.xsd': camt025,
    'camt.029.xsd': camt029,
    'camt.052.xsd': camt052,
    'camt.053.xsd': camt053,
    'camt.054.xsd': camt054,
    'camt.055.xsd': camt055,
    'camt.060.xsd': camt060,
    'common.xsd': common,
    'pacs.002.1.14.xsd': pacs002_1_14,
    'pacs.002.1.16.xsd': pacs002_1_16,
    'pacs.002.1.17.xsd': pacs002_1_17,
    'pacs.002.xsd': pacs002,
    'pacs.004.xsd': pacs004,
    'pacs.008.1.13.xsd': pacs008_1_13,
    'pacs.008.1.15.xsd': pacs008_1_15,
    'pacs.008.1.16.xsd': pacs008_1_16,
    'pacs.008.xsd': pacs008,
    'pain.009.xsd': pain009,
    'pain.011.xsd': pain011,
    'pain.012.xsd': pain012,
    'pain.013.xsd': pain013,
    'pain.014.2.3.xsd': pain014_2_3,
    'pain.014.2.4.xsd': pain014_2_4,
    'pain.014.xsd': pain014,
    'pibr.001.xsd': pibr001,
    'pibr.002.xsd': pibr002,
    'reda.014.xsd': reda014,
    'reda.016.xsd': reda016,
    'reda.017.xsd': reda017,
    'reda.022.xsd': reda022,
    'reda.031.xsd': reda031,
    'reda.041.xsd': reda041,
    'trck.002.xsd': trck002,
    'xmldsig.xsd': xmldsig,
  }),
)
