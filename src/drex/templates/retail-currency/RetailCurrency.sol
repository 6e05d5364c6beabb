// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Currency} from '../currency/Currency.sol';

/// @title One institution's retail money.
/// @notice The shape of the pilot's RealTokenizado: the currency, and who issues it.
contract RetailCurrency is Currency {
    string public participant;
    /// The first eight digits of the institution's CNPJ, as a number.
    uint256 public immutable cnpj8;
    /// Wallet that holds the institution's wholesale money.
    address public reserve;

    event ReserveUpdated(address indexed reserve);

    error InvalidTerms(string field);

    constructor(
        string memory name_,
        string memory symbol_,
        address authority,
        string memory participant_,
        uint256 cnpj8_,
        address reserve_
    ) Currency(name_, symbol_, authority) {
        if (reserve_ == address(0)) revert InvalidTerms('reserve');
        participant = participant_;
        cnpj8 = cnpj8_;
        reserve = reserve_;
    }

    function updateReserve(address newReserve) external onlyRole(DEFAULT_ADMIN_ROLE) {
        if (newReserve == address(0)) revert InvalidTerms('reserve');
        reserve = newReserve;
        emit ReserveUpdated(newReserve);
    }
}
