// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {
    AccountAccess,
    IAdmission
} from 'src/drex/templates/account-access/AccountAccess.sol';
import {
    AddressDirectory
} from 'src/drex/templates/address-directory/AddressDirectory.sol';
import {
    DefaultAccounts,
    IAuthorisedAccounts
} from 'src/drex/templates/default-accounts/DefaultAccounts.sol';
import {
    IConvertible,
    ReserveTransfer
} from 'src/drex/templates/reserve-transfer/ReserveTransfer.sol';

/// @title The pilot's contracts around its currency, made with one transaction.
contract SandboxDirectory is AddressDirectory {
    constructor(
        address token,
        address authority,
        uint256 requestMax
    ) AddressDirectory(authority) {
        _name(keccak256('RealDigital'), token);
        _name(
            keccak256('RealDigitalDefaultAccount'),
            address(new DefaultAccounts(IAuthorisedAccounts(token), authority, authority))
        );
        _name(
            keccak256('RealDigitalEnableAccount'),
            address(new AccountAccess(IAdmission(token)))
        );
        _name(
            keccak256('STR'),
            address(new ReserveTransfer(IConvertible(token), requestMax))
        );
    }
}
